"""The pages hold together: links resolve, every page can be found, and what they show is what one gets."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.page import BEGIN, END, EXPLANATION
from quotatree.cli import main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
RECORDS = sorted((DOCS / "adr").glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """The page without its code."""
    return re.sub(r"`[^`\n]+`", "", FENCE.sub("", page.read_text(encoding="utf-8")))


def links(page: Path) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page: Path) -> set[str]:
    """The names that headings get (lower case, blanks to hyphens, punctuation dropped), and those given by hand."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([\w-]+)"></a>', text))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_resolves(page: Path):
    broken = []
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_is_in_the_index():
    index = DOCS / "index.md"
    linked = {(DOCS / link).resolve() for link in links(index)}
    assert [name_of(page) for page in DOCS.rglob("*.md") if page != index and page not in linked] == []


@pytest.mark.parametrize("record", RECORDS, ids=name_of)
def test_a_decision_record_has_its_parts_and_its_title_in_the_index(record: Path):
    text = record.read_text(encoding="utf-8")
    title = text.splitlines()[0].removeprefix("# ")
    assert title.startswith(record.name[:4] + ": ")
    assert re.search(r"^Status: ", text, re.MULTILINE)
    for heading in ("Context", "Decision"):
        assert f"\n## {heading}\n" in text
    assert f"[{title}](adr/{record.name})" in (DOCS / "index.md").read_text(encoding="utf-8")


def test_decision_records_are_numbered_without_gaps():
    assert [int(record.name[:4]) for record in RECORDS] == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("page", ["performance.md", "results.md"])
def test_figures_have_their_place(page):
    """Where `python -m benchmarks --write` puts its tables: each marker once, on a line of its own."""
    lines = (EXPLANATION / page).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if BEGIN in line or END in line] == [BEGIN, END]


def shown(page: Path) -> list[tuple[str, list[str]]]:
    """Commands of a page that can be run anywhere, and the lines it says they print."""
    found = []
    for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
        command, _, output = block.partition("\n")
        if not language and command.startswith("$ ") and output:
            found.append((command.removeprefix("$ "), output.splitlines()))
    return found


def contains_in_order(output: list[str], wanted: list[str]) -> bool:
    """Every line of `wanted`, in order; lines between them may be missing where it says `...`."""
    position = 0
    may_skip = False
    for line in wanted:
        if line.strip() == "...":
            may_skip = True
            continue
        if may_skip:
            while position < len(output) and output[position] != line:
                position += 1
        if position >= len(output) or output[position] != line:
            return False
        position += 1
        may_skip = False
    return may_skip or position == len(output)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", DOCS / "home.md", *sorted((DOCS / "explanation").glob("*.md"))], ids=name_of
)
def test_a_page_shows_what_one_gets(page: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    for command, expected in shown(page):
        words = shlex.split(command)
        assert words[0] == "quotatree"
        output = CliRunner().invoke(main, words[1:]).output
        assert contains_in_order(
            [line.rstrip() for line in output.splitlines()], [line.rstrip() for line in expected]
        ), output


def test_every_module_of_the_core_is_in_the_architecture() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    modules = {path.stem for path in (ROOT / "src" / "quotatree" / "core").rglob("*.py")} - {"__init__"}
    assert {name for name in modules if f"`{name}`" not in page} == set()
