import { createRoute } from "@tanstack/react-router";
import { only } from "./gate";
import { insideRoute } from "./inside";
import { page } from "./page";
import { text } from "./search";

export const clusterRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/cluster",
  staticData: { title: "Cluster" },
  beforeLoad: only("see-nodes"),
  validateSearch: (raw: Record<string, unknown>): { colour?: string } => text(raw, ["colour"]),
  component: page(() => import("../features/cluster/ClusterPage"), "ClusterPage"),
});
