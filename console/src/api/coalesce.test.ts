import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Coalescer } from "./coalesce";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a storm of events asks at once, and then once a second", () => {
  const asked: unknown[] = [];
  const coalescer = new Coalescer((key) => asked.push(key));
  for (let i = 0; i < 50; i++) coalescer.push(["jobs"]);
  expect(asked).toEqual([["jobs"]]);
  vi.advanceTimersByTime(1000);
  expect(asked).toEqual([["jobs"], ["jobs"]]);
  vi.advanceTimersByTime(5000);
  expect(asked.length).toBe(2);
});

test("keys do not wait for each other", () => {
  const asked: unknown[] = [];
  const coalescer = new Coalescer((key) => asked.push(key));
  coalescer.push(["jobs"]);
  coalescer.push(["quotas"]);
  expect(asked).toEqual([["jobs"], ["quotas"]]);
});
