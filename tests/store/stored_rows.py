"""The values of golden/rows.json: rows of every table, each once with everything and once with as little as it may have."""

from __future__ import annotations

from typing import Final

from quotatree.access.differences import Differences
from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import Member, QuotaAdmin, SessionInfo, TokenInfo, User, Workspace
from quotatree.codec import encode
from quotatree.core.decisions import Decision
from quotatree.store import rows as r
from quotatree.store.samples import Amounts, Sample, Span
from tests.codec.stored_values import CENTRES, FAILS, JOBS, NODES, POOLS, PREEMPTIONS, QUOTAS

AT_MS: Final = 1_700_000_000_000

POOL_ROWS: Final = (r.PoolRow("default", POOLS[0], 1),)
NODE_ROWS: Final = (r.NodeRow("n1", NODES[0], 2),)
QUOTA_ROWS: Final = (r.QuotaRow("root", QUOTAS[0], 3), r.QuotaRow("team-a", QUOTAS[2], 4))

JOB_ROWS: Final = (
    r.JobRow(JOBS[0], r.Card("first", "ann", {}), "NotYetTried"),
    r.JobRow(
        JOBS[1],
        r.Card("second", "bob", {"command": ["serve"]}, first_started_ms=1_500, ended_ms=9_000),
        "FitsIdle",
    ),
)
RUN_ROWS: Final = (
    r.RunRow("dlc-1", 1, "regular", 1_000, None, None, None, ""),
    r.RunRow("dlc-2", 2, "idle", 3_000, 3_100, 9_000, "evicted", "taken for dlc-1"),
)
PLACEMENT_ROWS: Final = (
    r.PlacementRow("dlc-1", 1, 0, "n1", (), 0, 1_000, None),
    r.PlacementRow("dlc-2", 2, 1, "n2", (6, 7), 2_000, 3_000, 9_000),
)
USAGE_ROWS: Final = (
    r.UsageRow("dlc-1", 1, "guaranteed", 1_000, None, 2_000, 1, "lab", "team-a", "ann", "DLC"),
    r.UsageRow("dlc-2", 2, "loan", 3_000, 9_000, 500, 0, "lab", "team-b", "bob", "EAS"),
)

DECISION_ROWS: Final = (
    r.DecisionRow(1, 4_000, "Fail", "dlc-1", "lab", "team-a", "PreemptionLimit", encode(FAILS[0], Decision)),
)
PREEMPTION_ROWS: Final = (
    r.PreemptionRow(1, 4_000, "dlc-2", "lab", "team-a", "SIBLINGS", 14_400_000_000, encode(PREEMPTIONS[1])),
    r.PreemptionRow(2, 5_000, "", "", "team-b", "", 160_000_000, encode(PREEMPTIONS[3])),
)
VICTIM_ROWS: Final = (
    r.VictimRow(1, 0, "dlc-1", "lab", "team-b", 3, 2_000, 7_200_000_000, 14_400_000_000),
    r.VictimRow(2, 0, "dlc-1", "lab", "team-b", 3, 1_000, 40_000_000, 160_000_000),
)
LOSS_ROWS: Final = (
    r.LossRow(1, 0, 4_000, 7_200_000_000, 1, "loan", "lab", "team-b", "ann", "DLC", "lab", "team-a"),
    r.LossRow(
        2, 0, 5_000, 40_000_000, 1, "guaranteed", "lab", "team-b", "ann", "DLC", "", "", "ScaleReclaim"
    ),
)
EVENT_ROWS: Final = (
    r.EventRow(1, 4_000, "engine.orphan_stopped", None, None, None, {}),
    r.EventRow(2, 4_000, "job.started", "lab", "team-a", "dlc-2", {"run": 2, "claim": "idle"}),
)
AUDIT_ROWS: Final = (
    r.AuditRow(1, 4_000, "system", "node.device", "node:n1", None, {}),
    r.AuditRow(2, 4_000, "ann", "job.submit", "job:dlc-1", "lab", {"quota": "team-a"}),
)
ANSWER_ROWS: Final = (
    r.IdempotencyRow("ann", "key-1", "3f2a", 200, {"id": "dlc-1", "version": 1, "items": []}, 4_000),
)
WEBHOOK_ROWS: Final = (
    r.WebhookRow("hook-1", None, "https://example.org/all", "s3cret", (), True, 1),
    r.WebhookRow("hook-2", "lab", "https://example.org/lab", "s3cret", ("job.started",), False, 2),
)
DELIVERY_ROWS: Final = (r.DeliveryRow("2-hook-1", "hook-1", 2, 5_000, 3, "pending", "503"),)
ENGINE_ROW: Final = r.EngineRow("0123456789abcdef", "host:/var/lib/quotatree/engine")
SAMPLE_ROWS: Final = (
    r.SampleRow(
        "team-a",
        Span.MINUTE,
        AT_MS - AT_MS % Span.MINUTE,
        Sample.of_minute(
            (2, 1, 30),
            (Amounts.of_minute(8_000, 6_000, 4_000, 0, 0, 1_000, 2_000, 500, 3_000, 2_000), None, None),
        ),
    ),
    r.SampleRow(
        "team-a",
        Span.HOUR,
        AT_MS - AT_MS % Span.HOUR,
        Sample(
            60,
            (120, 60, 1_800),
            (3, 2, 90),
            (
                Amounts(
                    60, 60, (480_000, 360_000, 240_000, 0, 0, 60_000, 0, 0, 0, 120_000), (8_000, 0, 0, 0)
                ),
                None,
                Amounts(2, 0, (0, 64, 64, 0, 0, 0, 0, 0, 0, 0), (32, 0, 0, 0)),
            ),
        ),
    ),
)
ESTIMATE_ROWS: Final = (r.EstimateRow("dlc-2", 2_000, 2_800),)

ROWS: Final[tuple[r.Row, ...]] = (
    *POOL_ROWS, *NODE_ROWS, *QUOTA_ROWS, *JOB_ROWS, *RUN_ROWS, *PLACEMENT_ROWS, *DECISION_ROWS, *PREEMPTION_ROWS,
    *USAGE_ROWS, *VICTIM_ROWS, *LOSS_ROWS, *EVENT_ROWS, *AUDIT_ROWS, *ANSWER_ROWS, *WEBHOOK_ROWS, *DELIVERY_ROWS, ENGINE_ROW,
    *SAMPLE_ROWS, *ESTIMATE_ROWS,
)  # fmt: skip

USERS: Final = (
    User("ann", version=1),
    User("bob", "Bob B.", "bob@example.org", True, True, "$argon2id$", "https://id.example.org 42", 2),
)
WORKSPACE: Final = Workspace("lab", "The lab", (Member("ann", Role.OWNER),), ("team-a",), 5)
ADMIN: Final = QuotaAdmin("bob", "team-a")
TOKENS: Final = (
    TokenInfo("tok-1", "ann", "laptop", "9c1b", 1_000),
    TokenInfo("tok-2", "bob", "robot", "7d0e", 1_000, 2_000, 1_500, True),
)
SESSION: Final = SessionInfo("55aa", "ann", "aa55", 1_000, 2_000)

PEOPLE: Final = Differences(
    users=USERS,
    workspaces=(WORKSPACE,),
    centres=(CENTRES[1],),
    quota_admins=(ADMIN,),
    tokens=TOKENS,
    sessions=(SESSION,),
    priority_names={"production": 8, "batch": 2},
)
DIRECTORY: Final = Directory(
    {user.name: user for user in USERS},
    {"lab": WORKSPACE},
    {("lab", "team-a"): CENTRES[1]},
    frozenset({ADMIN}),
    {token.id: token for token in TOKENS},
    {SESSION.id_hash: SESSION},
    {"production": 8, "batch": 2},
)
