import { createRoute } from "@tanstack/react-router";
import { insideRoute } from "./inside";
import { page } from "./page";

export const overviewRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/",
  staticData: { title: "Overview" },
  component: page(() => import("../features/overview/OverviewPage"), "OverviewPage"),
});
