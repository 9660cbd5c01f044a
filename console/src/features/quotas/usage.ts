// GPU-hours by team, user, module, claim or quota: rows with a bar that is divided by claim.
import type { GpuTime } from "../../api/types";

export const BYS = ["workspace", "user", "module", "claim", "quota", "taker"] as const;
export type By = (typeof BYS)[number];
export const BY_WORDS: Record<By, string> = { workspace: "team", user: "user", module: "module", claim: "claim", quota: "quota", taker: "taker" };

export const CLAIMS = ["guaranteed", "loan", "idle"] as const;
export type Claim = (typeof CLAIMS)[number];

type Row = GpuTime["rows"][number];
export type UsageRow = { name: string; gpuHours: number; lost: number; runs: number; preempted: number; claims: Record<Claim, number> };

/** How a row is called; names that the reader may not know are told as such. */
export function nameOf(row: Row, by: By): string {
  if (by !== "taker") return row[by] ?? "others, whom you may not see";
  if (row.taker_quota === undefined || row.taker_quota === null) return row.lost_gpu_hours > 0 ? "others, whom you may not see" : "kept";
  return row.taker_workspace === undefined || row.taker_workspace === null ? row.taker_quota : `${row.taker_workspace} in ${row.taker_quota}`;
}

/** The rows in the server's order, each with its hours by claim from the same question asked by claim as well. */
export function rowsOf(found: GpuTime, byClaim: GpuTime, by: By): UsageRow[] {
  const claims = new Map<string, Record<Claim, number>>();
  for (const row of byClaim.rows) {
    const name = nameOf(row, by);
    const sums = claims.get(name) ?? { guaranteed: 0, loan: 0, idle: 0 };
    const claim = CLAIMS.find((one) => one === row.claim);
    if (claim !== undefined) sums[claim] += row.gpu_hours;
    claims.set(name, sums);
  }
  return found.rows.map((row) => {
    const name = nameOf(row, by);
    return { name, gpuHours: row.gpu_hours, lost: row.lost_gpu_hours, runs: row.runs, preempted: row.preempted, claims: claims.get(name) ?? { guaranteed: 0, loan: 0, idle: 0 } };
  });
}
