import { expect, test } from "vitest";
import { estimateWords } from "./estimate";

const MIN = 60_000;
const told = (earliest_ms: number | null, likely_ms: number | null, latest_ms: number | null) => ({ earliest_ms, likely_ms, latest_ms, why: "no job like it has ended", rests_on: [] });

test("the likely start comes first, then the range, whose ends may be open", () => {
  expect(estimateWords(told(20 * MIN, 40 * MIN, 120 * MIN), 0)).toBe("Starts in about 40 min, between 20 min and 2 h");
  expect(estimateWords(told(20 * MIN, 40 * MIN, null), 0)).toBe("Starts in about 40 min, not before 20 min");
  expect(estimateWords(told(null, 40 * MIN, 120 * MIN), 0)).toBe("Starts in about 40 min, within 2 h");
  expect(estimateWords(told(null, 40 * MIN, null), 0)).toBe("Starts in about 40 min");
});

test("what cannot be told is said, with why", () => {
  expect(estimateWords(told(null, null, null), 0)).toBe("When it will start cannot be told: no job like it has ended");
});
