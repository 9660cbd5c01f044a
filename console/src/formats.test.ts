import { expect, test } from "vitest";
import { count, duration, gpus, moment, ordinal, share, tickMoment, work } from "./formats";

test("unknown is a dash and zero is a zero", () => {
  expect(gpus(null)).toBe("–");
  expect(gpus(0)).toBe("0 GPU");
  expect(share(undefined, 48)).toBe("0/48 GPU");
});

test("work is told in GPU-seconds, and from one GPU-hour on in GPU-hours", () => {
  expect(work(332)).toBe("332 GPU-s");
  expect(work(3599)).toBe("3,599 GPU-s");
  expect(work(5040)).toBe("1.4 GPU-h");
});

test("a duration has at most two units", () => {
  expect(duration(8_400)).toBe("8 s");
  expect(duration(12 * 60_000)).toBe("12 min");
  expect(duration(200 * 60_000)).toBe("3 h 20 min");
  expect(duration(52 * 3_600_000)).toBe("2 d 4 h");
});

test("a moment is a time today and a date after a day", () => {
  const at = Date.UTC(2026, 10, 16, 7, 8, 12);
  expect(moment(at, at + 3_600_000, "UTC")).toBe("07:08:12");
  expect(moment(at, at + 2 * 86_400_000, "UTC")).toBe("16 Nov 07:08");
});

test("ticks are times, and dates where a day begins or where they stand days apart", () => {
  const at = Date.UTC(2026, 10, 16, 7, 0);
  expect(tickMoment(at, 3_600_000, "UTC")).toBe("07:00");
  expect(tickMoment(at, 30_000, "UTC")).toBe("07:00:00");
  expect(tickMoment(at - 7 * 3_600_000, 3_600_000, "UTC")).toBe("16 Nov");
  expect(tickMoment(at, 2 * 86_400_000, "UTC")).toBe("16 Nov");
});

test("places and counts are words", () => {
  expect([1, 2, 3, 4, 11, 12, 21, 112].map(ordinal)).toEqual(["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th"]);
  expect(count(1, "job")).toBe("1 job");
  expect(count(2, "reason")).toBe("2 reasons");
});
