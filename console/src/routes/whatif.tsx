import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { insideRoute } from "./inside";

export const whatIfRoutes = [
  createRoute({ getParentRoute: () => insideRoute, path: "/what-if", component: lazyRouteComponent(() => import("../features/whatif/WhatIfPage"), "WhatIfPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/what-if/$run", component: lazyRouteComponent(() => import("../features/whatif/RunPage"), "RunPage") }),
] as const;
