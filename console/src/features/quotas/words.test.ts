import { expect, test } from "vitest";
import { historyWords } from "./words";

test("a change is told from what to what", () => {
  const changes = [
    { what: "min", before: "8 GPU", after: "6 GPU" },
    { what: "child_level", before: "none", after: "1-3 DLC,DSW" },
  ];
  expect(historyWords("quota.scaled", { quota: "a", by: "root", changes })).toBe("scaled: min 8 GPU → 6 GPU; child level none → 1-3 DLC,DSW");
});

test("an event of before has no such changes", () => {
  expect(historyWords("quota.loan_returned", { quota: "a" })).toBe("loan returned");
  expect(historyWords("quota.scaled", { quota: "a", source: "b", amount: [1000, null, null] })).toBe("scaled: source b");
});
