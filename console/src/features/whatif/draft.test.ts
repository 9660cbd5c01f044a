import { expect, test } from "vitest";
import { changesOf, editProblem, words } from "./draft";

test("an edit that no quota could have is refused before it is asked", () => {
  expect(editProblem({ kind: "self", quota: "Q", on: true, high: "6-9", low: "4-6" })).toBe("low 6 reaches high 6: 6-9 over 4-5 would do");
  expect(editProblem({ kind: "self", quota: "Q", on: false, high: "", low: "" })).toBeNull();
  expect(editProblem({ kind: "scale", quota: "Q", gpus: "many" })).toBe("give a number of GPUs");
});

test("edits are sent in the words of a preview", () => {
  expect(changesOf([{ kind: "scale", quota: "Q.1", gpus: "56" }])).toEqual([{ change: "scale", quota: "Q.1", min: { gpus: 56 }, mode: "lazy" }]);
  expect(words({ kind: "child", quota: "Q", on: false, priorities: "1-3" })).toBe("Q: child-level off");
});
