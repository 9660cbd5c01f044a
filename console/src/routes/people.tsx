// Workspaces, audit, users, oneself.
import { createRoute } from "@tanstack/react-router";
import { only } from "./gate";
import { insideRoute } from "./inside";
import { page } from "./page";
import { text } from "./search";

const workspace = () => import("../features/workspaces/WorkspacePage");

export const peopleRoutes = [
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces", staticData: { title: "Workspaces" }, component: page(() => import("../features/workspaces/WorkspacesPage"), "WorkspacesPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces/$workspace", staticData: { of: "workspace", title: "members" }, component: page(workspace, "MembersPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces/$workspace/quotas", staticData: { of: "workspace", title: "quotas" }, component: page(workspace, "BoundPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/workspaces/$workspace/centre", staticData: { of: "workspace", title: "scheduling centre" }, component: page(workspace, "CentrePage") }),
  createRoute({
    getParentRoute: () => insideRoute,
    path: "/audit",
    staticData: { title: "Audit" },
    validateSearch: (raw: Record<string, unknown>): { actor?: string; action?: string; target?: string } => text(raw, ["actor", "action", "target"]),
    component: page(() => import("../features/audit/AuditPage"), "AuditPage"),
  }),
  createRoute({ getParentRoute: () => insideRoute, path: "/users", staticData: { title: "Users" }, beforeLoad: only("manage-users"), component: page(() => import("../features/account/UsersPage"), "UsersPage") }),
  createRoute({ getParentRoute: () => insideRoute, path: "/me", staticData: { title: "My account" }, component: page(() => import("../features/account/MePage"), "MePage") }),
] as const;
