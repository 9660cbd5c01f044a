import { expect, test } from "vitest";
import type { Quota } from "../../api/types";
import { NEW_SELF, bodyOf, draftOf, lines, problems } from "./draft";

const quota = { strategy: "fifo", child_level: { enabled: false, priorities: "1-3", modules: ["DLC"] }, self_level: [] } as unknown as Quota;

test("switched off, a policy keeps its settings", () => {
  expect(bodyOf(draftOf(quota), quota).child_level).toEqual({ enabled: false, priorities: "1-3", modules: ["DLC"] });
});

test("what was never set and stays off is not sent", () => {
  const unset = { ...quota, child_level: null } as Quota;
  expect(bodyOf(draftOf(unset), unset).child_level).toBeNull();
});

test("each wrong field is named", () => {
  const draft = { ...draftOf(quota), self: [{ ...NEW_SELF, low: "4-6" }, { ...NEW_SELF, modules: [] }] };
  expect(problems(draft)).toEqual({ "self.0": "low 6 reaches high 6: 6-9 over 4-5 would do", "self.1.modules": "choose at least one module" });
});

test("any over lower has no pair to be wrong, and is sent as such", () => {
  const draft = { ...draftOf(quota), self: [{ ...NEW_SELF, any: true, low: "nonsense" }] };
  expect(problems(draft)).toEqual({});
  expect(bodyOf(draft, quota).self_level).toEqual([{ any: "lower", modules: ["DLC", "DSW"], scope: "level", enabled: true }]);
  expect(lines(draft)[2]).toEqual(["self-level 1", "on, any over lower, DLC DSW, level"]);
});
