import { expect, test } from "vitest";
import { betterOf, compared } from "./compare";
import type { Simulated } from "./queries";

test("the lower wait and the higher goodput are better, and equals are not", () => {
  expect(betterOf([60, 30], true)).toBe(1);
  expect(betterOf([0.9, 0.8], false)).toBe(0);
  expect(betterOf([5, 5], true)).toBeNull();
  expect(betterOf([5, null], true)).toBeNull();
});

test("what a variant does not tell is a dash", () => {
  const result = { overall: { wait: { mean_s: 90 }, evictions: 2 }, cluster: { allocation: null } } as unknown as Simulated;
  const lines = compared([result]);
  expect(lines.find((line) => line.name === "mean wait")?.values).toEqual(["1 min"]);
  expect(lines.find((line) => line.name === "allocation")?.values).toEqual(["–"]);
});

test("what reads the same is not called better", () => {
  const waits = (mean_s: number) => ({ overall: { wait: { mean_s } }, cluster: {} }) as unknown as Simulated;
  const better = (one: number, two: number) => compared([waits(one), waits(two)]).find((line) => line.name === "mean wait")?.better;
  expect(better(23.2, 23.6)).toBeNull();
  expect(better(23.2, 24.1)).toBe(0);
});
