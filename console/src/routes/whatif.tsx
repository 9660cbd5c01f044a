import { createRoute } from "@tanstack/react-router";
import { insideRoute } from "./inside";
import { page } from "./page";

export const whatIfRoutes = [
  createRoute({ getParentRoute: () => insideRoute, path: "/what-if", component: page(() => import("../features/whatif/WhatIfPage"), "WhatIfPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/what-if/$run", component: page(() => import("../features/whatif/RunPage"), "RunPage") }),
] as const;
