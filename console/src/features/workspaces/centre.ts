// The scheduling centre while it is edited (W3), what is sent when it is saved, and its lines beside another version.
import type { Centre, CentreIn } from "../../api/types";
import { readTimes, writeTimes } from "./times";

export const SUBMITTING = ["owner", "admin", "operator", "developer"] as const;

export type AmountRow = { who: string; priorities: string; gpus: string };
export type CeilingRow = { who: string; priority: string };
export type CentreDraft = { modules: string[]; roles: string[]; amounts: AmountRow[]; ceilings: CeilingRow[]; run: string; wait: string };

export const NEW_AMOUNT: AmountRow = { who: "role:developer", priorities: "1-9", gpus: "16" };
export const NEW_CEILING: CeilingRow = { who: "role:developer", priority: "5" };

export function draftOf(centre: Centre): CentreDraft {
  return {
    modules: centre.modules,
    roles: centre.roles,
    amounts: centre.amounts.map((one) => ({ ...one, gpus: String(one.gpus) })),
    ceilings: centre.ceilings.map((one) => ({ who: one.who, priority: String(one.priority) })),
    run: writeTimes(centre.longest_run),
    wait: writeTimes(centre.longest_wait),
  };
}

export function bodyOf(draft: CentreDraft): CentreIn {
  return {
    modules: draft.modules,
    roles: draft.roles,
    amounts: draft.amounts.map((one) => ({ ...one, gpus: Number(one.gpus) })),
    ceilings: draft.ceilings.map((one) => ({ who: one.who, priority: Number(one.priority) })),
    longest_run: readTimes(draft.run),
    longest_wait: readTimes(draft.wait),
  } as unknown as CentreIn;
}

export function lines(draft: CentreDraft): [string, string][] {
  return [
    ["modules", draft.modules.join(" ")],
    ["roles that may submit", draft.roles.join(" ")],
    ...draft.amounts.map((one): [string, string] => [`amount of ${one.who} at ${one.priorities}`, `${one.gpus} GPU`]),
    ...draft.ceilings.map((one): [string, string] => [`ceiling of ${one.who}`, `priority ${one.priority}`]),
    ["longest run", draft.run || "no bound"],
    ["longest wait", draft.wait || "no bound"],
  ];
}
