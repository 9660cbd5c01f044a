import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "./root";
import { text } from "./search";

export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: (raw: Record<string, unknown>): { back?: string } => text(raw, ["back"]),
  component: lazyRouteComponent(() => import("../features/account/LoginPage"), "LoginPage"),
});
