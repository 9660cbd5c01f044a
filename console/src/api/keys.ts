// Under which keys is server data kept, and which of them does an event make old?

export const keys = {
  whoami: ["whoami"] as const,
  ways: ["login-ways"] as const,
  summary: ["summary"] as const,
  quotas: ["quotas"] as const,
  quota: (id: string, ...part: unknown[]) => ["quota", id, ...part] as const,
  jobs: (filter: object) => ["jobs", filter] as const,
  job: (id: string, ...part: unknown[]) => ["job", id, ...part] as const,
  preemptions: (filter: object) => ["preemptions", filter] as const,
  nodes: ["nodes"] as const,
  pools: ["pools"] as const,
  workspaces: ["workspaces"] as const,
  workspace: (id: string, ...part: unknown[]) => ["workspace", id, ...part] as const,
  audit: (filter: object) => ["audit", filter] as const,
  users: ["users"] as const,
  tokens: (user: string) => ["tokens", user] as const,
  priorities: ["priorities"] as const,
  simulations: ["simulations"] as const,
};

type Told = { kind: string; job?: string | null; quota?: string | null; workspace?: string | null };
type Key = readonly unknown[];

const TAKES = new Set(["job.evicted", "job.moved", "job.demoted", "job.promised", "job.unpromised", "job.started"]);

/** The keys (or beginnings of keys) whose answers an event may have changed. */
export function staleAfter(event: Told): Key[] {
  const noun = event.kind.split(".")[0];
  switch (noun) {
    case "job": {
      const stale: Key[] = [["jobs"], ["quotas"], ["quota"], ["nodes"], keys.summary];
      if (event.job) stale.push(["job", event.job]);
      if (TAKES.has(event.kind)) stale.push(["preemptions"]);
      return stale;
    }
    case "quota":
      return event.kind === "quota.figures" ? [["quotas"], ["quota"], keys.summary] : [["quotas"], ["quota"], ["jobs"], ["nodes"], keys.summary];
    case "node":
    case "pool":
      return [["nodes"], ["pools"], ["quotas"], keys.summary];
    case "workspace":
      return [["workspaces"], ["workspace", event.workspace ?? ""], keys.whoami];
    case "priorities":
      return [keys.priorities, ["jobs"]];
    case "simulation":
      return [keys.simulations];
    case "user":
      return [keys.users, keys.whoami];
    default:
      return [];
  }
}
