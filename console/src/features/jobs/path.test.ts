import { expect, test } from "vitest";
import { actorOf, pathOf, squeezeOf, type Tree } from "./path";

const usage = { used_own: { gpus: 40 }, used_below: { gpus: 0 }, squeezed: { gpus: 8 }, stood_on_by: [{ quota: "Q", amount: { gpus: 16 } }] };
const tree: Tree = {
  ancestors: [{ id: "Q", parent: null, min: { gpus: 128 }, unused: { gpus: 0 } }],
  items: [{ id: "Q.1", parent: "Q", min: { gpus: 48 }, usage }],
};

test("the way goes from the top down, and a quota below a full one is not to blame", () => {
  expect(pathOf(tree, "Q.1", 8)).toEqual([
    { quota: "Q", unused: 0, min: 128, fits: false },
    { quota: "Q.1", unused: 8, min: 48, fits: true },
  ]);
});

test("what is squeezed is told with who stands on it (Q4)", () => {
  expect(squeezeOf(tree, "Q.1")).toEqual({ quota: "Q.1", amount: 8, by: [{ quota: "Q", amount: 16, above: true }] });
  expect(squeezeOf(tree, "Q")).toBeNull();
});

const holder = { quota: "Q", claim: "regular", jobs: 1, gpus: 16, lowest_priority: 5, highest_priority: 5 };

test("one party in the way is told as the actor, if the job's own quota has room for it", () => {
  const actor = { quota: "Q", jobs: 1, gpus: 16, priority: "5", squeezed: 8, of: "Q.1" };
  expect(actorOf(tree, "Q.1", 8, [holder])).toEqual(actor);
  expect(actorOf(tree, "Q.1", 16, [holder])).toBeNull();
  expect(actorOf(tree, "Q.1", 8, [])).toBeNull();
  expect(actorOf(tree, "other", 8, [holder])).toBeNull();
});

test("a quota that cannot be seen has no way", () => {
  expect(pathOf(tree, "other", 8)).toEqual([]);
});
