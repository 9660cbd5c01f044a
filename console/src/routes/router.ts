// All addresses of the console.
import type { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { NoSuchPage, PageError } from "../components/StateBlock";
import { clusterRoute } from "./cluster";
import { insideRoute, nowhereRoute } from "./inside";
import { jobRoutes } from "./jobs";
import { loginRoute } from "./login";
import { overviewRoute } from "./overview";
import { peopleRoutes } from "./people";
import { preemptionRoutes } from "./preemptions";
import { policyRoute, quotaRoutes } from "./quotas";
import { rootRoute } from "./root";
import { whatIfRoutes } from "./whatif";

const tree = rootRoute.addChildren([loginRoute, insideRoute.addChildren([overviewRoute, quotaRoutes, policyRoute, ...jobRoutes, ...preemptionRoutes, clusterRoute, ...peopleRoutes, ...whatIfRoutes, nowhereRoute])]);

export function makeRouter(client: QueryClient) {
  return createRouter({ routeTree: tree, context: { client }, defaultPreload: "intent", defaultErrorComponent: PageError, defaultNotFoundComponent: NoSuchPage, scrollRestoration: true });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
