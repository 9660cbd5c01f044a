// The jobs of a quota, summed up by who owns them.
import type { Job } from "../../api/types";

export type UserRow = { user: string; workspace: string; running: number; waiting: number; jobs: number };

export function byUser(jobs: readonly Pick<Job, "owner" | "workspace" | "phase" | "gpus">[]): UserRow[] {
  const found = new Map<string, UserRow>();
  for (const job of jobs) {
    const key = `${job.owner} ${job.workspace}`;
    const row = found.get(key) ?? { user: job.owner, workspace: job.workspace, running: 0, waiting: 0, jobs: 0 };
    if (job.phase === "Running") row.running += job.gpus;
    else row.waiting += job.gpus;
    row.jobs += 1;
    found.set(key, row);
  }
  return [...found.values()].sort((a, b) => b.running - a.running || b.waiting - a.waiting || a.user.localeCompare(b.user));
}
