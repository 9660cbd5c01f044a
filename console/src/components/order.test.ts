import { expect, test } from "vitest";
import { frozen } from "./order";

const id = (text: string) => text.slice(0, 1);

test("rows keep their places and show their new contents", () => {
  expect(frozen(["a", "b", "c"], ["c2", "a2", "b2"], id)).toEqual({ rows: ["a2", "b2", "c2"], changes: 3 });
});

test("what is new waits, and what is gone goes, and both are counted", () => {
  expect(frozen(["a", "b"], ["n", "b"], id)).toEqual({ rows: ["b"], changes: 2 });
});

test("without a change there is nothing to tell", () => {
  expect(frozen(["a", "b"], ["a", "b"], id)).toEqual({ rows: ["a", "b"], changes: 0 });
});
