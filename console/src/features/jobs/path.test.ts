import { expect, test } from "vitest";
import { pathOf } from "./path";

const tree = {
  ancestors: [{ id: "Q", parent: null, min: { gpus: 128 }, free: { gpus: 0 } }],
  items: [{ id: "Q.1", parent: "Q", min: { gpus: 48 }, usage: { free: { gpus: 8 } } }],
};

test("the way goes from the top down, and each quota says whether the job fits there", () => {
  expect(pathOf(tree, "Q.1", 8)).toEqual([
    { quota: "Q", free: 0, min: 128, fits: false },
    { quota: "Q.1", free: 8, min: 48, fits: true },
  ]);
});

test("a quota that cannot be seen has no way", () => {
  expect(pathOf(tree, "other", 8)).toEqual([]);
});
