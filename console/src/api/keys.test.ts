import { expect, test } from "vitest";
import { staleAfter } from "./keys";

test("an eviction makes the job, the lists, the bars and the ledger old", () => {
  const stale = staleAfter({ kind: "job.evicted", job: "dlc-1" });
  for (const key of [["jobs"], ["quotas"], ["job", "dlc-1"], ["preemptions"], ["nodes"]]) expect(stale).toContainEqual(key);
});

test("figures of a quota make bars old, and no job", () => {
  expect(staleAfter({ kind: "quota.figures" })).toEqual([["quotas"], ["quota"], ["summary"]]);
});

test("a checkpoint leaves the ledger alone", () => {
  expect(staleAfter({ kind: "job.checkpointed", job: "dlc-1" })).not.toContainEqual(["preemptions"]);
});

test("a kind that nobody knows makes nothing old", () => {
  expect(staleAfter({ kind: "weather.changed" })).toEqual([]);
});
