// /jobs with its filters, /jobs/new, /jobs/$job and its tabs.
import { createRoute } from "@tanstack/react-router";
import { SEARCH_NAMES, type JobSearch } from "../features/jobs/filters";
import { insideRoute } from "./inside";
import { page } from "./page";
import { flag, text } from "./search";

const listRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs",
  staticData: { title: "Jobs" },
  validateSearch: (raw: Record<string, unknown>): JobSearch => ({ ...text(raw, SEARCH_NAMES), ...(flag(raw, "below") ? { below: true } : {}) }),
  component: page(() => import("../features/jobs/JobsPage"), "JobsPage"),
});
const newRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs/new",
  staticData: { title: "Submit a job" },
  component: page(() => import("../features/jobs/SubmitPage"), "SubmitPage"),
});
const oneRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: "/jobs/$job",
  component: page(() => import("../features/jobs/JobPage"), "JobPage"),
});
const whyRoute = createRoute({ getParentRoute: () => oneRoute, path: "/", staticData: { of: "job", title: "why" }, component: page(() => import("../features/jobs/WhyTab"), "WhyTab") });
const runsRoute = createRoute({ getParentRoute: () => oneRoute, path: "runs", staticData: { of: "job", title: "runs" }, component: page(() => import("../features/jobs/RunsTab"), "RunsTab") });
const logsRoute = createRoute({ getParentRoute: () => oneRoute, path: "logs", staticData: { of: "job", title: "logs" }, component: page(() => import("../features/jobs/LogsTab"), "LogsTab") });
const historyRoute = createRoute({ getParentRoute: () => oneRoute, path: "history", staticData: { of: "job", title: "history" }, component: page(() => import("../features/jobs/HistoryTab"), "HistoryTab") });

export const jobRoutes = [listRoute, newRoute, oneRoute.addChildren([whyRoute, runsRoute, logsRoute, historyRoute])] as const;
