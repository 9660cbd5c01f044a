import { expect, test } from "vitest";
import type { Series } from "../../api/types";
import { gpuLines, hasAny, rowsOf } from "./series";

type Values = (number | null)[];
const gpu = (parts: Record<string, Values>) => {
  const zero: Values = [0, null, 0];
  return { min: [48, null, 48], used: zero, own: zero, loan: zero, squeezed: zero, reserved: zero, idle_lent: zero, idle_borrowed: zero, queued: zero, free: zero, ...parts };
};
const series = (parts: Record<string, Values>, step = "minute") =>
  ({
    quota: "Q",
    step,
    times: [0, 60_000, 120_000],
    figures: { gpu: gpu(parts) },
    running_jobs: [1, null, 2],
    waiting_jobs: [0, null, 1],
    oldest_waiting_s: [0, null, 30],
    peaks: { figures: { gpu: { used: [9, null, 9], loan: [0, null, 0], squeezed: [0, null, 0], queued: [8, null, 8] } } },
  }) as unknown as Series;
const labels = (of: Series) => gpuLines(of).map((line) => line.label);

test("min, used and queued are always drawn, other figures only if they were ever above zero", () => {
  expect(labels(series({}))).toEqual(["min", "used", "queued"]);
  expect(labels(series({ loan: [0, null, 8], squeezed: [8, null, 0] }))).toEqual(["min", "used", "loan", "squeezed", "queued"]);
});

test("what is used here is drawn only where it differs from what is used with the quotas below", () => {
  expect(labels(series({ used: [8, null, 8], own: [8, null, 8] }))).not.toContain("used here");
  expect(labels(series({ used: [16, null, 8], own: [8, null, 8] }))).toContain("used here");
});

test("a minute that nobody saw stays a gap in lines and is no row of the file", () => {
  const found = series({ used: [8, null, 16] });
  expect(gpuLines(found).find((line) => line.label === "used")?.values).toEqual([8, null, 16]);
  expect(rowsOf(found).map((row) => [row[0], row[2]])).toEqual([["1970-01-01T00:00:00.000Z", 8], ["1970-01-01T00:02:00.000Z", 16]]);
});

test("hours and days show their highest minute too, since a mean hides it", () => {
  expect(labels(series({}, "hour")).slice(-2)).toEqual(["most used", "most queued"]);
});

test("a time in which nobody looked has nothing to draw", () => {
  expect(hasAny(series({}))).toBe(true);
  expect(hasAny({ ...series({}), running_jobs: [null, null, null] })).toBe(false);
});
