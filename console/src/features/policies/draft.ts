// The policies of a quota while they are edited, and what is sent when they are saved.
import type { Module, PoliciesIn, Quota } from "../../api/types";
import { pairProblem, rangeProblem } from "../../pairs";

export type SelfDraft = { enabled: boolean; any: boolean; high: string; low: string; modules: string[]; scope: string };
export type Draft = {
  strategy: string;
  child: { enabled: boolean; priorities: string; modules: string[] };
  self: SelfDraft[];
};

export const NEW_SELF: SelfDraft = { enabled: true, any: false, high: "6-9", low: "1-5", modules: ["DLC", "DSW"], scope: "level" };

export function draftOf(quota: Pick<Quota, "strategy" | "child_level" | "self_level">): Draft {
  return {
    strategy: quota.strategy,
    child: {
      enabled: quota.child_level?.enabled ?? false,
      priorities: quota.child_level?.priorities ?? "1-9",
      modules: quota.child_level?.modules ?? ["DLC", "DSW"],
    },
    self: quota.self_level.map((one) => ({
      enabled: one.enabled,
      any: one.any !== undefined,
      high: one.high ?? "6-9",
      low: one.low ?? "1-5",
      modules: one.modules,
      scope: one.scope,
    })),
  };
}

/** Everything that is wrong, by field: "child", "child.modules", "self.0", "self.0.modules". Empty if it may be saved. */
export function problems(draft: Draft): Record<string, string> {
  const found: Record<string, string> = {};
  const wrong = rangeProblem(draft.child.priorities);
  if (wrong !== null) found["child"] = wrong;
  if (draft.child.modules.length === 0) found["child.modules"] = "choose at least one module";
  draft.self.forEach((one, place) => {
    const pair = one.any ? null : pairProblem(one.high, one.low);
    if (pair !== null) found[`self.${place}`] = pair.text;
    if (one.modules.length === 0) found[`self.${place}.modules`] = "choose at least one module";
  });
  return found;
}

/** The body of the request. A child-level policy that was never set and is off stays unset. */
export function bodyOf(draft: Draft, before: Pick<Quota, "child_level">): PoliciesIn {
  const unset = before.child_level === null && !draft.child.enabled;
  return {
    strategy: draft.strategy as "intelligent",
    child_level: unset ? null : { enabled: draft.child.enabled, priorities: draft.child.priorities, modules: draft.child.modules as Module[] },
    self_level: draft.self.map((one) => ({
      ...(one.any ? { any: "lower" as const } : { high: one.high, low: one.low }),
      modules: one.modules as Module[],
      scope: one.scope as "level",
      enabled: one.enabled,
    })),
  } as PoliciesIn;
}

/** The lines of a draft, to be shown beside another version of it. */
export function lines(draft: Draft): [string, string][] {
  return [
    ["strategy", draft.strategy],
    ["child-level", `${draft.child.enabled ? "on" : "off"}, ${draft.child.priorities}, ${draft.child.modules.join(" ")}`],
    ...draft.self.map((one, place): [string, string] => [
      `self-level ${place + 1}`,
      `${one.enabled ? "on" : "off"}, ${one.any ? "any over lower" : `${one.high} over ${one.low}`}, ${one.modules.join(" ")}, ${one.scope}`,
    ]),
  ];
}
