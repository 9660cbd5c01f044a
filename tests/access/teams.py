"""A small company that the tests of rights walk through.

    root ─┬─ lab ─┬─ lab.vision   bound to workspace vision: olga (owner), adam (admin), oto (operator),
          │       │                                          dina (developer), vera (viewer)
          │       └─ lab.speech   bound to workspace speech: otis (owner)
          └─ ops                  bound to nobody

ruth is platform admin, quentin is quota admin of lab, nick has no role at all.
"""

from quotatree.access.centre import Amount, Centre
from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import User

TREE: dict[str, str | None] = {
    "root": None,
    "lab": "root",
    "ops": "root",
    "lab.vision": "lab",
    "lab.speech": "lab",
}
PEOPLE = ("ruth", "quentin", "olga", "adam", "oto", "dina", "vera", "otis", "nick")


def company() -> Directory:
    found = Directory()
    for name in PEOPLE:
        found = found.with_user(User(name, platform_admin=name == "ruth"))
    found = found.with_workspace("vision", owners=["olga"]).with_workspace("speech", owners=["otis"])
    for name, role in (
        ("adam", Role.ADMIN),
        ("oto", Role.OPERATOR),
        ("dina", Role.DEVELOPER),
        ("vera", Role.VIEWER),
    ):
        found = found.member_added("vision", name, role)
    return (
        found.bound("vision", "lab.vision").bound("speech", "lab.speech").with_quota_admin("quentin", "lab")
    )


def ruled(*amounts: Amount, **rules) -> Directory:
    return company().with_centre(Centre("vision", "lab.vision", amounts=amounts, **rules))
