// /preemptions and /preemptions/$seq: the ledger, and one decision of it drawn.
import { createRoute } from "@tanstack/react-router";
import { insideRoute } from "./inside";
import { page } from "./page";
import { text } from "./search";

const component = page(() => import("../features/preemptions/PreemptionsPage"), "PreemptionsPage");
const validateSearch = (raw: Record<string, unknown>): { quota?: string; job?: string; step?: string } => text(raw, ["quota", "job", "step"]);

const listRoute = createRoute({ getParentRoute: () => insideRoute, path: "/preemptions", staticData: { title: "Preemptions" }, validateSearch, component });
const oneRoute = createRoute({ getParentRoute: () => insideRoute, path: "/preemptions/$seq", staticData: { of: "seq", title: "preemption" }, validateSearch, component });

export const preemptionRoutes = [listRoute, oneRoute] as const;
