"""Who is on each GPU, as far as the reader may know (R3, W2)."""

from __future__ import annotations

from quotatree.core import Settings
from quotatree.core.snapshots import restore
from tests.api.serving import Api


def test_each_gpu_tells_who_is_on_it_and_to_an_outsider_only_how_much(api: Api):
    """W2: what a quota admin may not know of a job is absent, by structure."""
    mine = api.submit(gpus=2, name="secret-name", priority=3)
    theirs = api.submit("eve", workspace="speech", quota="b", groups=[{"gpus": 0.5}], module="DSW")
    for job in (mine, theirs):
        api.wait_phase(job, "Running")
    (node,) = api.get("/node-devices").json()["items"]
    assert (node["node"], node["gpus"], node["free"].count(1), node["free"].count(0.5)) == ("n0", 8, 5, 1)
    by_job = {one["job"]: one for one in node["occupants"]}
    assert by_job[mine] == {
        "job": mine, "name": "secret-name", "workspace": "vision", "owner": "ann", "module": "DLC", "quota": "a",
        "priority": 3, "devices": by_job[mine]["devices"], "gpus": 2, "idle": False, "leaving": False, "held": False,
    }  # fmt: skip
    assert len(by_job[mine]["devices"]) == 2
    assert (by_job[theirs]["gpus"], len(by_job[theirs]["devices"])) == (0.5, 1)
    assert set(by_job[mine]["devices"]).isdisjoint(by_job[theirs]["devices"])
    seen = api.get("/node-devices", "quinn")
    for word in (mine, theirs, "secret-name", "ann", "eve", "vision", "speech"):
        assert word not in seen.text
    (hidden,) = seen.json()["items"]
    assert {(one["job"], one["quota"], one["priority"]) for one in hidden["occupants"]} == {
        (None, "a", 3), (None, "b", 1),
    }  # fmt: skip
    assert api.get("/node-devices", "ann").status_code == 403


def test_nodes_come_in_pages_and_by_pool(api: Api):
    for name in ("s1", "s0", "s2"):
        api.post("/nodes", {"name": name, "pool": "spare", "gpus": 2})
    first = api.get("/node-devices?limit=2").json()
    rest = api.get(f"/node-devices?limit=2&cursor={first['next']}").json()
    assert [one["node"] for one in (*first["items"], *rest["items"])] == ["n0", "s0", "s1", "s2"]
    assert rest["next"] is None
    assert [one["node"] for one in api.get("/node-devices?pool=spare").json()["items"]] == ["s0", "s1", "s2"]
    assert [one["node"] for one in api.get("/node-devices?node=s2").json()["items"]] == ["s2"]
    assert api.get(f"/node-devices?pool=spare&cursor={first['next']}").status_code == 400


def test_who_is_leaving_is_told_beside_who_is_promised_the_place(api: Api):
    """P9: the hold overlaps what its victim still occupies."""
    api.ask("PATCH", "/api/v1/quotas/a", json={"self_level": {"high": "6-9", "low": "1-5", "scope": "own"}})
    beside = api.submit("eve", workspace="speech", quota="b", gpus=4)
    low = api.submit(gpus=4, grace="1h", program={"leaves_after": 3000})
    api.wait_phase(low, "Running")
    high = api.submit(gpus=4, priority=9)
    api.wait_phase(high, "Held")
    (node,) = api.get("/node-devices").json()["items"]
    seen = {one["job"]: (one["gpus"], one["leaving"], one["held"]) for one in node["occupants"]}
    assert seen == {beside: (4, False, False), low: (4, True, False), high: (4, False, True)}


def test_a_node_that_was_removed_is_nowhere_to_be_seen(api: Api):
    """R5: not in lists, figures or by name; its pool goes after it, and both may come again, also after a restart."""
    api.post("/nodes", {"name": "s0", "pool": "spare", "gpus": 4, "model": "L20"})
    version = api.get("/nodes/s0").json()["version"]
    assert api.ask("DELETE", "/api/v1/pools/spare").json()["rule"] == "R4"
    stale = api.ask("DELETE", "/api/v1/nodes/s0", headers={"If-Match": f'"{version + 1}"'})
    assert stale.status_code == 412
    assert api.ask("DELETE", "/api/v1/nodes/s0", headers={"If-Match": f'"{version}"'}).status_code == 200
    for path in ("/nodes", "/node-devices", "/summary"):
        assert "s0" not in api.get(path).text
    assert api.get("/summary").json()["cluster"]["nodes"] == 1
    assert api.get("/nodes/s0").status_code == 404
    assert api.post("/nodes/s0/uncordon").status_code == 404
    assert api.ask("DELETE", "/api/v1/nodes/s0").status_code == 404
    assert [(p["name"], p["nodes"]) for p in api.get("/pools").json()["items"]] == [("p", 1), ("spare", 0)]
    assert api.ask("DELETE", "/api/v1/pools/spare").status_code == 200
    assert api.ask("DELETE", "/api/v1/pools/spare").status_code == 404
    assert [p["name"] for p in api.get("/pools").json()["items"]] == ["p"]
    loaded = restore(api.store.load(Settings()).snapshot)
    assert (set(loaded.pools), [n.gone for n in loaded.nodes]) == ({"p"}, [False, True])
    assert api.post("/nodes", {"name": "s0", "pool": "spare", "gpus": 2}).status_code == 201
    assert api.get("/nodes/s0").json()["gpus"] == 2
    refused = api.ask("DELETE", "/api/v1/nodes/n0")
    assert (refused.status_code, refused.json()["rule"]) == (422, "Q1")
