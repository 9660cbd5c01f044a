// The variants of a run side by side: which figures, how written, and which is the better one.
import { duration, gpuHours, number } from "../../formats";
import type { Simulated } from "./queries";

export type Line = { name: string; values: string[]; better: number | null };
type Figure = { name: string; of: (one: Simulated) => number | null; write: (value: number) => string; low: boolean };

const at = (group: Record<string, unknown>, ...path: string[]): number | null => {
  let value: unknown = group;
  for (const part of path) value = (value as Record<string, unknown> | null)?.[part];
  return typeof value === "number" ? value : null;
};
const seconds = (value: number) => duration(value * 1000);
const percent = (value: number) => `${(value * 100).toFixed(1)} %`;

const FIGURES: Figure[] = [
  { name: "mean wait", of: (one) => at(one.overall, "wait", "mean_s"), write: seconds, low: true },
  { name: "mean time to completion", of: (one) => at(one.overall, "completion", "mean_s"), write: seconds, low: true },
  { name: "mean start of high priorities", of: (one) => at(one.cluster, "high_priority_start", "mean_s"), write: seconds, low: true },
  { name: "allocation", of: (one) => at(one.cluster, "allocation"), write: percent, low: false },
  { name: "goodput", of: (one) => at(one.overall, "goodput"), write: percent, low: false },
  { name: "evictions", of: (one) => at(one.overall, "evictions"), write: number, low: true },
  { name: "lost work", of: (one) => at(one.overall, "lost_gpu_hours"), write: (value) => `${gpuHours(value)} GPU-h`, low: true },
  { name: "useful work", of: (one) => at(one.overall, "useful_gpu_hours"), write: (value) => `${gpuHours(value)} GPU-h`, low: false },
  { name: "jobs done", of: (one) => at(one.overall, "done"), write: number, low: false },
];

export function compared(results: readonly Simulated[]): Line[] {
  return FIGURES.map((figure) => {
    const values = results.map(figure.of);
    const written = values.map((value) => (value === null ? "–" : figure.write(value)));
    const alike = new Set(written).size < 2; // nobody sees a difference, so none is praised
    return { name: figure.name, values: written, better: alike ? null : betterOf(values, figure.low) };
  });
}

/** The place of the better value; null if they are alike or one is not known. */
export function betterOf(values: readonly (number | null)[], low: boolean): number | null {
  if (values.length < 2 || values.some((value) => value === null)) return null;
  const known = values as number[];
  const best = low ? Math.min(...known) : Math.max(...known);
  const places = known.flatMap((value, place) => (Math.abs(value - best) <= Math.abs(best) * 1e-6 ? [place] : []));
  return places.length === 1 ? (places[0] ?? null) : null;
}
