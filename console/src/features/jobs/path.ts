// Where on its way is a waiting job stopped? Each quota from the top down to its own, with what is free there.
import type { Amounts } from "../../api/types";

type Known = { id: string; parent: string | null; min: Amounts };
type Tree = { items: readonly (Known & { usage: { free: Amounts } })[]; ancestors: readonly (Known & { free: Amounts })[] };
export type PathStep = { quota: string; free: number; min: number | undefined; fits: boolean };

export function pathOf(tree: Tree, quota: string, wanted: number): PathStep[] {
  const known = new Map<string, { parent: string | null; min: Amounts; free: Amounts }>();
  for (const one of tree.ancestors) known.set(one.id, one);
  for (const one of tree.items) known.set(one.id, { parent: one.parent, min: one.min, free: one.usage.free });
  const steps: PathStep[] = [];
  for (let at: string | null = quota; at !== null; ) {
    const found = known.get(at);
    if (found === undefined) break;
    const free = found.free.gpus ?? 0;
    steps.unshift({ quota: at, free, min: found.min.gpus, fits: found.min.gpus === undefined || free >= wanted });
    at = found.parent;
  }
  return steps;
}
