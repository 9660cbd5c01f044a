import { expect, test } from "vitest";
import { lengthMs, spanOf, spanWords } from "./spans";

test("an address that names no known length means the usual one", () => {
  expect(spanOf("7d", "6h")).toBe("7d");
  expect(spanOf("7 days", "6h")).toBe("6h");
  expect(spanOf(undefined, "6h")).toBe("6h");
});

test("lengths in words and milliseconds", () => {
  expect([spanWords("1h"), spanWords("6h"), spanWords("7d")]).toEqual(["1 hour", "6 hours", "7 days"]);
  expect(lengthMs("7d")).toBe(7 * 24 * lengthMs("1h"));
});
