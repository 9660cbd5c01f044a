// What every address has in common: the data that pages ask for.
import type { QueryClient } from "@tanstack/react-query";
import { Outlet, createRootRouteWithContext } from "@tanstack/react-router";

export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({ component: Outlet });
