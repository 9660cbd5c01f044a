// In which order do rows stand while somebody points at them? As they stood: nothing jumps under a pointer.

export type Ordered<T> = { rows: T[]; changes: number };

/** The rows in the order of `before`, with what came newly left out and counted; rows that are gone are left out. */
export function frozen<T>(before: readonly string[], rows: readonly T[], idOf: (row: T) => string): Ordered<T> {
  const now = new Map(rows.map((row) => [idOf(row), row]));
  const kept = before.filter((id) => now.has(id));
  const known = new Set(before);
  const added = rows.filter((row) => !known.has(idOf(row))).length;
  const after = rows.map(idOf).filter((id) => known.has(id));
  const moved = kept.filter((id, place) => after[place] !== id).length;
  return { rows: kept.map((id) => now.get(id) as T), changes: added + moved + (before.length - kept.length) };
}
