// /jobs with its filters, /jobs/new, /jobs/$job and its tabs.
import { createRoute } from "@tanstack/react-router";
import { SEARCH_NAMES, type JobSearch } from "../features/jobs/filters";
import { insideRoute } from "./inside";
import { page } from "./page";
import { flag, text } from "./search";

const listRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs",
  validateSearch: (raw: Record<string, unknown>): JobSearch => ({ ...text(raw, SEARCH_NAMES), ...(flag(raw, "below") ? { below: true } : {}) }),
  component: page(() => import("../features/jobs/JobsPage"), "JobsPage"),
});
const newRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs/new",
  component: page(() => import("../features/jobs/SubmitPage"), "SubmitPage"),
});
const oneRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs/$job",
  component: page(() => import("../features/jobs/JobPage"), "JobPage"),
});
const whyRoute = createRoute({ getParentRoute: () => oneRoute, path: "/", component: page(() => import("../features/jobs/WhyTab"), "WhyTab") });
const runsRoute = createRoute({ getParentRoute: () => oneRoute, path: "runs", component: page(() => import("../features/jobs/RunsTab"), "RunsTab") });
const logsRoute = createRoute({ getParentRoute: () => oneRoute, path: "logs", component: page(() => import("../features/jobs/LogsTab"), "LogsTab") });
const historyRoute = createRoute({ getParentRoute: () => oneRoute, path: "history", component: page(() => import("../features/jobs/HistoryTab"), "HistoryTab") });

export const jobRoutes = [listRoute, newRoute, oneRoute.addChildren([whyRoute, runsRoute, logsRoute, historyRoute])] as const;
