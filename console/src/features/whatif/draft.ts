// What would have been if? The edited tree while it is written, and the question that is sent.
import { pairProblem, rangeProblem } from "../../pairs";

export type Edit =
  | { kind: "strategy"; quota: string; strategy: string }
  | { kind: "child"; quota: string; on: boolean; priorities: string }
  | { kind: "self"; quota: string; on: boolean; high: string; low: string }
  | { kind: "scale"; quota: string; gpus: string };

export const HOURS = [1, 6, 24, 24 * 7] as const;

/** What is wrong with an edit; null if nothing is. */
export function editProblem(edit: Edit): string | null {
  if (edit.kind === "child" && edit.on) return rangeProblem(edit.priorities);
  if (edit.kind === "self" && edit.on) return pairProblem(edit.high, edit.low)?.text ?? null;
  if (edit.kind === "scale" && !/^\d+(\.\d+)?$/.test(edit.gpus.trim())) return "give a number of GPUs";
  return null;
}

/** The changes of the edited variant, in the words of a preview. */
export function changesOf(edits: readonly Edit[]): Record<string, unknown>[] {
  return edits.map((edit) => {
    const { quota } = edit;
    if (edit.kind === "strategy") return { change: "update-quota", quota, to: { strategy: edit.strategy } };
    if (edit.kind === "child") return { change: "update-quota", quota, to: { child_level: edit.on ? { priorities: edit.priorities } : "off" } };
    if (edit.kind === "self") return { change: "update-quota", quota, to: { self_level: edit.on ? { high: edit.high, low: edit.low } : "off" } };
    return { change: "scale", quota, min: { gpus: Number(edit.gpus) }, mode: "lazy" };
  });
}

export function words(edit: Edit): string {
  if (edit.kind === "strategy") return `${edit.quota}: strategy ${edit.strategy}`;
  if (edit.kind === "child") return `${edit.quota}: child-level ${edit.on ? edit.priorities : "off"}`;
  if (edit.kind === "self") return `${edit.quota}: self-level ${edit.on ? `${edit.high} over ${edit.low}` : "off"}`;
  return `${edit.quota}: ${edit.gpus} GPU`;
}
