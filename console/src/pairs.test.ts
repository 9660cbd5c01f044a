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

test("low must end before high begins, and it says where (P1)", () => {
  expect(pairProblem("6-9", "4-6")).toBe("low 6 reaches high 6: end low at 5");
  expect(pairProblem("6-9", "4-5")).toBeNull();
  expect(pairProblem("1-3", "2")).toBe("low 2 reaches high 1: begin high at 3");
  expect(pairProblem("5", "5")).toBe("low 5 reaches high 5: begin high at 6");
});

test("for all pairs: refused exactly if the largest low is not below the smallest high", () => {
  for (let a = 1; a <= 9; a++)
    for (let b = a; b <= 9; b++)
      for (let c = 1; c <= 9; c++)
        for (let d = c; d <= 9; d++) expect(pairProblem(`${a}-${b}`, `${c}-${d}`) === null).toBe(d < a);
});
