"""The rows of a store stay as they are: golden/rows.json has some of every table, written and read.

A backup is a copy of these tables, so what holds for them holds for it. The JSON of records and decisions has golden
files of its own, in tests/codec.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, get_args

from sqlalchemy import insert, select

from quotatree.core.state import Settings
from quotatree.store import HistoryFilter, Store, UsageFilter, UsageSum
from quotatree.store import rows as r
from quotatree.store.database import reading, writing
from quotatree.store.reads import LedgerEntry
from quotatree.store.tables import METADATA
from tests.store import stored_rows as rows
from tests.store.building import HOLDER

GOLDEN: Final = Path(__file__).parent / "golden" / "rows.json"
JSON_COLUMNS: Final = ("record", "card", "body", "kinds", "devices", "value")


def test_rows_are_written_as_they_always_were(store: Store) -> None:
    epoch = store.take_lease(HOLDER, 0, 1_000)
    assert epoch is not None
    store.commit(r.Batch(rows.AT_MS, HOLDER, epoch, 1, rows.ROWS, directory=rows.PEOPLE))
    assert json.dumps(content(store), indent=1) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_what_the_tables_held_then_is_loaded_as_the_values_it_was(store: Store) -> None:
    fill(store)
    loaded = store.load(Settings())
    assert loaded.snapshot.pools == tuple(row.record for row in rows.POOL_ROWS)
    assert loaded.snapshot.nodes == tuple(row.record for row in rows.NODE_ROWS)
    assert loaded.snapshot.quotas == tuple(row.record for row in rows.QUOTA_ROWS)
    assert loaded.jobs == rows.JOB_ROWS
    assert loaded.runs == rows.RUN_ROWS[:1]
    assert loaded.placements == rows.PLACEMENT_ROWS[:1]
    assert loaded.usage == rows.USAGE_ROWS[:1]
    assert loaded.webhooks == rows.WEBHOOK_ROWS
    assert loaded.answers == rows.ANSWER_ROWS
    assert loaded.engine == rows.ENGINE_ROW
    assert loaded.directory == rows.DIRECTORY
    assert loaded.versions == {
        ("pool", "default"): 1, ("node", "n1"): 2, ("quota", "root"): 3, ("quota", "team-a"): 4,
    }  # fmt: skip


def test_the_history_that_the_tables_held_then_can_be_asked_for(store: Store) -> None:
    fill(store)
    every = HistoryFilter()
    assert store.runs("dlc-2") == rows.RUN_ROWS[1:]
    assert store.placements("dlc-2") == rows.PLACEMENT_ROWS[1:]
    assert tuple(store.decisions(every).items) == rows.DECISION_ROWS
    assert list(store.preemptions(every).items) == [
        LedgerEntry(rows.PREEMPTION_ROWS[1], rows.VICTIM_ROWS[1:]),
        LedgerEntry(rows.PREEMPTION_ROWS[0], rows.VICTIM_ROWS[:1]),
    ]
    assert store.events(0, every) == rows.EVENT_ROWS
    assert tuple(store.audit(every).items) == rows.AUDIT_ROWS[::-1]
    told = store.usage(UsageFilter(0, 10_000, 10_000), ("owner", "claim", "taker_quota"))
    assert told == [
        UsageSum(("ann", "guaranteed", None), 9_000 * 2_000, 0, 1, 0),
        UsageSum(("ann", "guaranteed", ""), 0, 40_000_000, 0, 1),
        UsageSum(("ann", "loan", "team-a"), 0, 7_200_000_000, 0, 1),
        UsageSum(("bob", "loan", None), 6_000 * 500, 0, 0, 0),
    ]
    assert store.due_deliveries(5_000, 10) == [
        (rows.DELIVERY_ROWS[0], rows.EVENT_ROWS[1], rows.WEBHOOK_ROWS[0])
    ]
    for row in rows.SAMPLE_ROWS:
        found = store.samples(row.quota, row.span, row.at_ms, row.at_ms + row.span)
        assert found[0] == (row.at_ms, row.sample)
    assert store.material(("team-a", "team-b")).outcomes == ((800, 1_000),)


def test_a_backup_says_what_it_is_as_it_always_did(store: Store, tmp_path: Path) -> None:
    fill(store)
    store.backup(tmp_path / "kept.db", rows.AT_MS)
    copy = Store.open(str(tmp_path / "kept.db"))
    mark = next(row for row in content(copy)["meta"] if row["key"] == "backup")
    copy.close()
    digest = mark["value"].pop("rows")
    assert mark["value"] == {"schema": "quotatree.backup/1", "at_ms": 1_700_000_000_000}
    assert len(bytes.fromhex(digest)) == 32


def test_every_table_column_and_row_is_in_the_golden_file() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    missing = [
        f"{table.name}.{column.name}"
        for table in METADATA.sorted_tables
        for column in table.columns
        if all(row.get(column.name) in (None, "", [], {}) for row in golden.get(table.name, ()))
    ]
    assert missing == []
    assert {type(row) for row in rows.ROWS} == set(get_args(r.Row))


def content(store: Store) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables; JSON in a column as what it says."""
    with reading(store._engine) as connection:
        return {
            table.name: [
                {name: shown(name, value) for name, value in row.items()}
                for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()
            ]
            for table in sorted(METADATA.tables.values(), key=lambda table: table.name)
        }


def shown(column: str, value: Any) -> Any:
    return json.loads(value) if column in JSON_COLUMNS else value


def fill(store: Store) -> None:
    """Put the golden rows into the tables, as an older server left them."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    with writing(store._engine) as connection:
        for table in METADATA.sorted_tables:
            for row in golden[table.name]:
                stored = {
                    name: json.dumps(value, separators=(",", ":")) if name in JSON_COLUMNS else value
                    for name, value in row.items()
                }
                connection.execute(insert(table).values(stored))
