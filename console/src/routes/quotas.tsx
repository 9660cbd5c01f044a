// /quotas: the tree; /quotas/$quota and its tabs; the editor of policies.
import { createRoute } from "@tanstack/react-router";
import { insideRoute } from "./inside";
import { page } from "./page";
import { flag, text } from "./search";

export const quotasRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/quotas",
  staticData: { title: "Quotas" },
  component: page(() => import("../features/quotas/QuotasPage"), "QuotasPage"),
});
const oneRoute = createRoute({
  getParentRoute: () => quotasRoute,
  path: "$quota",
  component: page(() => import("../features/quotas/QuotaDetail"), "QuotaDetail"),
});
const overviewRoute = createRoute({
  getParentRoute: () => oneRoute,
  path: "/",
  staticData: { of: "quota" },
  component: page(() => import("../features/quotas/OverviewTab"), "OverviewTab"),
});
const jobsRoute = createRoute({
  getParentRoute: () => oneRoute,
  path: "jobs",
  staticData: { of: "quota", title: "jobs" },
  validateSearch: (raw: Record<string, unknown>): { below?: boolean } => (flag(raw, "below") ? { below: true } : {}),
  component: page(() => import("../features/quotas/JobsTab"), "JobsTab"),
});
const childrenRoute = createRoute({
  getParentRoute: () => oneRoute,
  path: "children",
  staticData: { of: "quota", title: "children" },
  component: page(() => import("../features/quotas/ChildrenTab"), "ChildrenTab"),
});
const nodesRoute = createRoute({
  getParentRoute: () => oneRoute,
  path: "nodes",
  staticData: { of: "quota", title: "nodes" },
  component: page(() => import("../features/quotas/NodesTab"), "NodesTab"),
});
const usersRoute = createRoute({
  getParentRoute: () => oneRoute,
  path: "users",
  staticData: { of: "quota", title: "users" },
  validateSearch: (raw: Record<string, unknown>): { own?: boolean } => (flag(raw, "own") ? { own: true } : {}),
  component: page(() => import("../features/quotas/UsersTab"), "UsersTab"),
});
const monitoringRoute = createRoute({
  getParentRoute: () => oneRoute,
  path: "monitoring",
  staticData: { of: "quota", title: "monitoring" },
  validateSearch: (raw: Record<string, unknown>): { span?: string } => text(raw, ["span"]),
  component: page(() => import("../features/quotas/MonitoringTab"), "MonitoringTab"),
});
const usageRoute = createRoute({
  getParentRoute: () => oneRoute,
  path: "usage",
  staticData: { of: "quota", title: "usage" },
  validateSearch: (raw: Record<string, unknown>): { span?: string; by?: string; own?: boolean } => ({ ...text(raw, ["span", "by"]), ...(flag(raw, "own") ? { own: true } : {}) }),
  component: page(() => import("../features/quotas/UsageTab"), "UsageTab"),
});
export const policyRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/quotas/$quota/policy",
  staticData: { of: "quota", title: "policy" },
  validateSearch: (raw: Record<string, unknown>): { child?: string; self?: string } => text(raw, ["child", "self"]),
  component: page(() => import("../features/policies/PolicyPage"), "PolicyPage"),
});

export const quotaRoutes = quotasRoute.addChildren([oneRoute.addChildren([overviewRoute, jobsRoute, childrenRoute, nodesRoute, usersRoute, monitoringRoute, usageRoute])]);
