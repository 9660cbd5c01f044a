import { expect, test } from "vitest";
import type { Quota } from "../../api/types";
import { rowsOf } from "./tree";

const quota = (id: string, parent: string | null, name = "") => ({ id, parent, name }) as Quota;
const TREE = [quota("Q", null), quota("Q.1", "Q", "Training"), quota("Q.1.a", "Q.1"), quota("Q.2", "Q")];
const ids = (rows: { id: string }[]) => rows.map((row) => row.id);

test("parents stand before their children, each with its level", () => {
  const rows = rowsOf(TREE, [], new Set(), "");
  expect(rows.map((row) => [row.id, row.level])).toEqual([["Q", 1], ["Q.1", 2], ["Q.1.a", 3], ["Q.2", 2]]);
});

test("what is folded hides what is below it", () => {
  expect(ids(rowsOf(TREE, [], new Set(["Q.1"]), ""))).toEqual(["Q", "Q.1", "Q.2"]);
});

test("what is looked for is shown with what is above it, folded or not", () => {
  expect(ids(rowsOf(TREE, [], new Set(["Q"]), "1.a"))).toEqual(["Q", "Q.1", "Q.1.a"]);
  expect(ids(rowsOf(TREE, [], new Set(), "train"))).toEqual(["Q", "Q.1"]);
});

test("a quota whose parent cannot be seen stands at the top, or below its stub", () => {
  const mine = [quota("Q.1", "Q")];
  expect(rowsOf(mine, [], new Set(), "")[0]?.level).toBe(1);
  const stub = { id: "Q", parent: null, depth: 1, min: {}, free: {} };
  expect(rowsOf(mine, [stub], new Set(), "").map((row) => row.level)).toEqual([1, 2]);
});
