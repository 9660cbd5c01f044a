// Where on its way is a waiting job stopped? Each quota from the top down to its own, with what of its own min is not used.
import type { Amounts, Usage } from "../../api/types";

type Known = { id: string; parent: string | null; min: Amounts };
type Stub = Known & { unused: Amounts };
type Whole = Known & { usage: Pick<Usage, "used_own" | "used_below" | "squeezed" | "stood_on_by"> };
export type Tree = { items: readonly Whole[]; ancestors: readonly Stub[] };
export type PathStep = { quota: string; unused: number; min: number | undefined; fits: boolean };
export type Squeeze = { quota: string; amount: number; by: { quota: string; amount: number; above: boolean }[] };

/** Each quota is judged by itself: one below a full parent has room of its own, and is not to blame. */
export function pathOf(tree: Tree, quota: string, wanted: number): PathStep[] {
  const known = new Map<string, { parent: string | null; min: Amounts; unused: number }>();
  for (const one of tree.ancestors) known.set(one.id, { ...one, unused: one.unused.gpus ?? 0 });
  for (const one of tree.items) known.set(one.id, { ...one, unused: unusedOf(one) });
  const steps: PathStep[] = [];
  for (let at: string | null = quota; at !== null; ) {
    const found = known.get(at);
    if (found === undefined) break;
    const { min, unused } = found;
    steps.unshift({ quota: at, unused, min: min.gpus, fits: min.gpus === undefined || unused >= wanted });
    at = found.parent;
  }
  return steps;
}

function unusedOf(quota: Whole): number {
  return Math.max(0, (quota.min.gpus ?? 0) - (quota.usage.used_own.gpus ?? 0) - (quota.usage.used_below.gpus ?? 0));
}

type Holder = { quota: string; claim: string; jobs: number; gpus: number; lowest_priority: number; highest_priority: number };
export type Actor = { quota: string; jobs: number; gpus: number; priority: string; squeezed: number; of: string };

/** Who is in the way, if it is one party: the work of a quota above that stands on what the job's own quota would have. */
export function actorOf(tree: Tree, quota: string, wanted: number, holders: readonly Holder[]): Actor | null {
  const own = pathOf(tree, quota, wanted).at(-1);
  const squeeze = squeezeOf(tree, quota);
  const above = squeeze?.by.filter((one) => one.above) ?? [];
  const [only] = above;
  if (own === undefined || !own.fits || squeeze === null || only === undefined || squeeze.by.length > 1) return null;
  const holder = holders.find((one) => one.quota === only.quota && one.claim === "regular");
  if (holder === undefined) return null;
  const { lowest_priority: low, highest_priority: high } = holder;
  return { quota: only.quota, jobs: holder.jobs, gpus: holder.gpus, priority: low === high ? `${low}` : `${low}-${high}`, squeezed: squeeze.amount, of: quota };
}

/** What the quota cannot use of its guarantee, and who stands on it; null if nothing is squeezed. */
export function squeezeOf(tree: Tree, quota: string): Squeeze | null {
  const usage = tree.items.find((one) => one.id === quota)?.usage;
  const amount = usage?.squeezed.gpus ?? 0;
  if (usage === undefined || amount === 0) return null;
  const above = new Set(pathOf(tree, quota, 0).map((step) => step.quota));
  return { quota, amount, by: usage.stood_on_by.map((one) => ({ quota: one.quota, amount: one.amount.gpus ?? 0, above: above.has(one.quota) })) };
}
