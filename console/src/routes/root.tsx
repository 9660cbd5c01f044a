// What every address has in common: data, and what is said when there is no such page.
import type { QueryClient } from "@tanstack/react-query";
import { Outlet, createRootRouteWithContext } from "@tanstack/react-router";
import { ErrorState, NoSuchPage } from "../components/StateBlock";

export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NoSuchPage,
  errorComponent: ({ error, reset }) => <ErrorState error={error} retry={reset} />,
});
