import { expect, test } from "vitest";
import { amountWords, changeWords, detailWords, eachOnce } from "./words";

test("amounts are told in their units, and what is not named is left out", () => {
  expect(amountWords([8000, null, 65536])).toBe("8 GPU, 64 GiB");
  expect(amountWords([500, 0, 0])).toBe("0.5 GPU");
  expect(amountWords([null, null, null])).toBe("no bound");
});

test("changes and details read as words", () => {
  expect(changeWords({ changes: [{ what: "min_runtime", before: "0s", after: "10m" }] })).toBe(": min runtime 0s → 10m");
  expect(detailWords({ user: "eve", role: "developer", quota: null, quotas: ["a", "b"], more: { a: 1 } })).toBe(": user eve, role developer, quotas a b");
});

test("a transfer is told once, although it leaves an entry for each quota", () => {
  const target = { seq: 7, action: "quota.scaled", target: "quota:b", body: { source: "a", amount: [8000, null, null] } };
  const source = { seq: 8, action: "quota.scaled", target: "quota:a", body: { target: "b", amount: [8000, null, null] } };
  expect(eachOnce([source, target])).toEqual([source]);
  expect(eachOnce([target])).toEqual([target]);
});
