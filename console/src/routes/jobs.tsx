// /jobs with its filters, /jobs/new, /jobs/$job and its tabs.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { SEARCH_NAMES, type JobSearch } from "../features/jobs/filters";
import { insideRoute } from "./inside";
import { flag, text } from "./search";

const listRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs",
  validateSearch: (raw: Record<string, unknown>): JobSearch => ({ ...text(raw, SEARCH_NAMES), ...(flag(raw, "below") ? { below: true } : {}) }),
  component: lazyRouteComponent(() => import("../features/jobs/JobsPage"), "JobsPage"),
});
const newRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs/new",
  component: lazyRouteComponent(() => import("../features/jobs/SubmitPage"), "SubmitPage"),
});
const oneRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs/$job",
  component: lazyRouteComponent(() => import("../features/jobs/JobPage"), "JobPage"),
});
const whyRoute = createRoute({ getParentRoute: () => oneRoute, path: "/", component: lazyRouteComponent(() => import("../features/jobs/WhyTab"), "WhyTab") });
const runsRoute = createRoute({ getParentRoute: () => oneRoute, path: "runs", component: lazyRouteComponent(() => import("../features/jobs/RunsTab"), "RunsTab") });
const logsRoute = createRoute({ getParentRoute: () => oneRoute, path: "logs", component: lazyRouteComponent(() => import("../features/jobs/LogsTab"), "LogsTab") });
const historyRoute = createRoute({ getParentRoute: () => oneRoute, path: "history", component: lazyRouteComponent(() => import("../features/jobs/HistoryTab"), "HistoryTab") });

export const jobRoutes = [listRoute, newRoute, oneRoute.addChildren([whyRoute, runsRoute, logsRoute, historyRoute])] as const;
