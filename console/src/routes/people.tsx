// Workspaces, audit, users, oneself.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { insideRoute } from "./inside";
import { text } from "./search";

const workspace = () => import("../features/workspaces/WorkspacePage");

export const peopleRoutes = [
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces", component: lazyRouteComponent(() => import("../features/workspaces/WorkspacesPage"), "WorkspacesPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces/$workspace", component: lazyRouteComponent(workspace, "MembersPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces/$workspace/quotas", component: lazyRouteComponent(workspace, "BoundPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces/$workspace/centre", component: lazyRouteComponent(workspace, "CentrePage") }),
  createRoute({
    getParentRoute: () => insideRoute,
    path: "/audit",
    validateSearch: (raw: Record<string, unknown>): { actor?: string; action?: string; target?: string } => text(raw, ["actor", "action", "target"]),
    component: lazyRouteComponent(() => import("../features/audit/AuditPage"), "AuditPage"),
  }),
  createRoute({ getParentRoute: () => insideRoute, path: "/users", component: lazyRouteComponent(() => import("../features/account/UsersPage"), "UsersPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/me", component: lazyRouteComponent(() => import("../features/account/MePage"), "MePage") }),
] as const;
