// What every address has in common: the data that pages ask for, and a title in the browser's tab.
import { useQuery, type QueryClient } from "@tanstack/react-query";
import { Outlet, createRootRouteWithContext, useMatches } from "@tanstack/react-router";
import { useEffect } from "react";
import { jobQuery } from "../api/shared";

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** What the page is, in the browser's tab. */
    title?: string;
    /** The parameter that names what the page is about. */
    of?: "job" | "quota" | "workspace" | "seq" | "run";
  }
}

export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({
  component: () => (
    <>
      <Title />
      <Outlet />
    </>
  ),
});

/** "sweep-a · why · QuotaTree": a job is told by its name as soon as the page knows it. */
function Title() {
  const [of, subject, title] = useMatches({
    select: (matches) => {
      const { staticData, params } = matches.findLast((one) => one.staticData.title !== undefined || one.staticData.of !== undefined) ?? {};
      const of = staticData?.of;
      return [of, of === undefined ? undefined : (params as Record<string, string> | undefined)?.[of], staticData?.title] as const;
    },
    structuralSharing: true,
  });
  const job = useQuery({ ...jobQuery(subject ?? ""), enabled: false }).data;
  const name = of === "job" ? job?.name || subject : of === "seq" ? `#${subject}` : subject;
  const shown = [name, title, "QuotaTree"].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = shown;
  }, [shown]);
  return null;
}
