import { expect, test } from "vitest";
import type { GpuTime } from "../../api/types";
import { nameOf, rowsOf } from "./usage";

type Row = GpuTime["rows"][number];
const row = (part: Partial<Row>): Row => ({ gpu_hours: 0, lost_gpu_hours: 0, runs: 0, preempted: 0, ...part });
const told = (rows: Row[]) => ({ since_ms: 0, until_ms: 1, by: [], rows, total: row({}) }) as GpuTime;

test("each row has its hours by claim, and its counts from where no run is counted twice", () => {
  const found = told([row({ workspace: "a", gpu_hours: 10, runs: 1, lost_gpu_hours: 2, preempted: 1 })]);
  const byClaim = told([row({ workspace: "a", claim: "guaranteed", gpu_hours: 7, runs: 1 }), row({ workspace: "a", claim: "loan", gpu_hours: 3, runs: 1 })]);
  expect(rowsOf(found, byClaim, "workspace")).toEqual([{ name: "a", gpuHours: 10, lost: 2, runs: 1, preempted: 1, claims: { guaranteed: 7, loan: 3, idle: 0 } }]);
});

test("who may not be known is told as such", () => {
  expect(nameOf(row({ user: null }), "user")).toBe("others, whom you may not see");
});

test("what was lost is told with who took it, and what was not lost as kept", () => {
  expect(nameOf(row({ taker_quota: "Q", taker_workspace: "a", lost_gpu_hours: 1 }), "taker")).toBe("a in Q");
  expect(nameOf(row({ taker_quota: "Q", taker_workspace: null, lost_gpu_hours: 1 }), "taker")).toBe("Q");
  expect(nameOf(row({ taker_quota: null, taker_workspace: null, gpu_hours: 5 }), "taker")).toBe("kept");
});
