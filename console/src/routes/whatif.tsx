import { createRoute } from "@tanstack/react-router";
import { only } from "./gate";
import { insideRoute } from "./inside";
import { page } from "./page";

export const whatIfRoutes = [
  createRoute({ getParentRoute: () => insideRoute, path: "/what-if", staticData: { title: "What-if" }, beforeLoad: only("operate"), component: page(() => import("../features/whatif/WhatIfPage"), "WhatIfPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/what-if/$run", staticData: { of: "run", title: "what-if" }, beforeLoad: only("operate"), component: page(() => import("../features/whatif/RunPage"), "RunPage") }),
] as const;
