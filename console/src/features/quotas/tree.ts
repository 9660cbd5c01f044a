// Which rows has the tree, with what is folded and what is looked for?
import type { Amounts, Quota } from "../../api/types";

export type Stub = { id: string; parent: string | null; depth: number; min: Amounts; free: Amounts };
export type Row = { id: string; parent: string | null; level: number; quota: Quota | null; stub: Stub | null; children: number; open: boolean };

/** Rows from the top down: parents before children. `find` keeps what matches, and what is above it. */
export function rowsOf(quotas: readonly Quota[], stubs: readonly Stub[], folded: ReadonlySet<string>, find: string): Row[] {
  const children = new Map<string | null, { id: string; quota: Quota | null; stub: Stub | null }[]>();
  const known = new Set([...quotas.map((one) => one.id), ...stubs.map((one) => one.id)]);
  const add = (parent: string | null, one: { id: string; quota: Quota | null; stub: Stub | null }) => {
    const key = parent !== null && known.has(parent) ? parent : null;
    children.set(key, [...(children.get(key) ?? []), one]);
  };
  for (const stub of stubs) add(stub.parent, { id: stub.id, quota: null, stub });
  for (const quota of quotas) add(quota.parent, { id: quota.id, quota, stub: null });
  const wanted = find === "" ? null : withAncestors(quotas, stubs, find.toLowerCase());
  const rows: Row[] = [];
  const visit = (parent: string | null, level: number) => {
    for (const one of children.get(parent) ?? []) {
      if (wanted !== null && !wanted.has(one.id)) continue;
      const below = children.get(one.id)?.length ?? 0;
      const open = below > 0 && (wanted !== null || !folded.has(one.id));
      rows.push({ ...one, parent, level, children: below, open });
      if (open) visit(one.id, level + 1);
    }
  };
  visit(null, 1);
  return rows;
}

function withAncestors(quotas: readonly Quota[], stubs: readonly Stub[], find: string): Set<string> {
  const parents = new Map<string, string | null>([...stubs, ...quotas].map((one) => [one.id, one.parent]));
  const found = new Set<string>();
  for (const quota of quotas) {
    if (!`${quota.id} ${quota.name}`.toLowerCase().includes(find)) continue;
    for (let at: string | null | undefined = quota.id; at !== null && at !== undefined && !found.has(at); at = parents.get(at)) found.add(at);
  }
  return found;
}
