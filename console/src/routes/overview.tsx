import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { insideRoute } from "./inside";

export const overviewRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/",
  component: lazyRouteComponent(() => import("../features/overview/OverviewPage"), "OverviewPage"),
});
