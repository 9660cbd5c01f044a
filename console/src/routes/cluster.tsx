import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { insideRoute } from "./inside";
import { text } from "./search";

export const clusterRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/cluster",
  validateSearch: (raw: Record<string, unknown>): { colour?: string } => text(raw, ["colour"]),
  component: lazyRouteComponent(() => import("../features/cluster/ClusterPage"), "ClusterPage"),
});
