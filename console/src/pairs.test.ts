import { expect, test } from "vitest";
import { pairProblem, rangeProblem, readRange } from "./pairs";

test("single values, ranges and lists without gaps are read", () => {
  expect(readRange("4")).toEqual({ from: 4, to: 4 });
  expect(readRange(" 6 - 9 ")).toEqual({ from: 6, to: 9 });
  expect(readRange("1,2,3")).toEqual({ from: 1, to: 3 });
  for (const none of ["", "0", "10", "9-6", "1,3", "high", "1-"]) expect(readRange(none)).toBeNull();
});

test("a wrong range says what to do", () => {
  expect(rangeProblem("9-6")).toBe("write 6-9: the smaller number first");
  expect(rangeProblem("12")).toBe("priorities go from 1 to 9");
});

test("low must end before high begins, and a pair close by is proposed (P1)", () => {
  const instead = (high: string, low: string) => pairProblem(high, low)?.instead;
  expect(pairProblem("6-9", "4-6")).toEqual({ text: "low 6 reaches high 6: 6-9 over 4-5 would do", instead: { high: "6-9", low: "4-5" } });
  expect(pairProblem("6-9", "4-5")).toBeNull();
  expect(instead("1-3", "2")).toEqual({ high: "3", low: "2" });
  expect(instead("6-9", "6-9")).toEqual({ high: "8-9", low: "6-7" });
  expect(instead("5", "5")).toEqual({ high: "6-9", low: "5" });
  expect(instead("9", "9")).toEqual({ high: "9", low: "1-8" });
});

test("for all pairs: refused exactly if the largest low is not below the smallest high, and what is proposed is valid", () => {
  for (let a = 1; a <= 9; a++)
    for (let b = a; b <= 9; b++)
      for (let c = 1; c <= 9; c++)
        for (let d = c; d <= 9; d++) {
          const wrong = pairProblem(`${a}-${b}`, `${c}-${d}`);
          expect(wrong === null).toBe(d < a);
          if (wrong !== null) expect(pairProblem(wrong.instead?.high ?? "", wrong.instead?.low ?? "")).toBeNull();
        }
});
