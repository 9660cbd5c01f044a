import { createRoute } from "@tanstack/react-router";
import { page } from "./page";
import { rootRoute } from "./root";
import { text } from "./search";

export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  staticData: { title: "Sign in" },
  validateSearch: (raw: Record<string, unknown>): { back?: string } => text(raw, ["back"]),
  component: page(() => import("../features/account/LoginPage"), "LoginPage"),
});
