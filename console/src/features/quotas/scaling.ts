// What scaling and moving GPUs between quotas have in common (Q5).
import type { Quota } from "../../api/types";
import { gpus } from "../../formats";

export const STALE = [["quotas"], ["quota"], ["jobs"]] as const;

export type Mode = "refuse" | "lazy" | "reclaim";

export const MODES = [
  { value: "refuse", label: "refuse below what is used" },
  { value: "lazy", label: "lazy: shrink as work ends" },
  { value: "reclaim", label: "reclaim: evict until it fits" },
];

/** The part of a request that says a quota's new size: a root has draws on a pool, any other a min. */
export function sizeOf(quota: Pick<Quota, "parent" | "draws">, amount: number) {
  return quota.parent === null ? { draws: { [Object.keys(quota.draws)[0] ?? "default"]: { gpus: amount } } } : { min: { gpus: amount } };
}

/** The size of a quota as a line of a conflict; `amount` instead of what it has. */
export function sizeLine(quota: Quota, amount = quota.min.gpus): [string, string] {
  return [`GPUs of ${quota.id}`, gpus(amount)];
}
