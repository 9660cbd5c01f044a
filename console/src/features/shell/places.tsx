// The places of the menu, and which of them an address lies in.
import { icons } from "../../components/icons";

export const PLACES = [
  { to: "/", name: "Overview", icon: icons.overview, needs: null },
  { to: "/quotas", name: "Quotas", icon: icons.quotas, needs: null },
  { to: "/jobs", name: "Jobs", icon: icons.jobs, needs: null },
  { to: "/preemptions", name: "Preemptions", icon: icons.preemptions, needs: null },
  { to: "/cluster", name: "Cluster", icon: icons.cluster, needs: "see-nodes" },
  { to: "/workspaces", name: "Workspaces", icon: icons.workspaces, needs: null },
  { to: "/what-if", name: "What-if", icon: icons.whatif, needs: "operate" },
  { to: "/audit", name: "Audit", icon: icons.audit, needs: null },
  { to: "/users", name: "Users", icon: icons.users, needs: "manage-users" },
] as const;

export function isIn(path: string, place: string): boolean {
  return place === "/" ? path === "/" : path === place || path.startsWith(`${place}/`);
}
