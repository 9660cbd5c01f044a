// What the pages of jobs ask.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { asked, type JobSearch } from "./filters";

const PAGE = 200;

export const jobsQuery = (search: JobSearch) =>
  infiniteQueryOptions({
    queryKey: keys.jobs(asked(search)),
    queryFn: ({ signal, pageParam }) =>
      call("get", "/api/v1/jobs", { query: { ...asked(search), limit: PAGE, ...(pageParam === "" ? {} : { cursor: pageParam }) } as never, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next ?? undefined,
  });

export const explanationQuery = (job: string) =>
  queryOptions({
    queryKey: keys.job(job, "explanation"),
    queryFn: ({ signal }) => call("get", "/api/v1/jobs/{job}/explanation", { path: { job }, signal }),
  });

/** Takes the server seconds, so it is asked for alone, and not again with every event. */
export const estimateQuery = (job: string) =>
  queryOptions({
    queryKey: ["estimate", job],
    queryFn: ({ signal }) => call("get", "/api/v1/jobs/{job}/explanation", { path: { job }, query: { estimate: true }, signal }),
    select: (answer) => answer.estimate,
    staleTime: 60_000,
    refetchInterval: 120_000,
    retry: false,
  });

export const exposureQuery = (job: string) =>
  queryOptions({
    queryKey: keys.job(job, "exposure"),
    queryFn: ({ signal }) => call("get", "/api/v1/jobs/{job}/exposure", { path: { job }, signal }),
    select: (answer) => answer.items,
  });

export const runsQuery = (job: string) =>
  queryOptions({
    queryKey: keys.job(job, "runs"),
    queryFn: ({ signal }) => call("get", "/api/v1/jobs/{job}/runs", { path: { job }, signal }),
    select: (answer) => [...answer.items].reverse(),
  });

export const storyQuery = (job: string) =>
  queryOptions({
    queryKey: keys.job(job, "history"),
    queryFn: ({ signal }) => call("get", "/api/v1/jobs/{job}/history", { path: { job }, query: { limit: 200 }, signal }),
    select: (answer) => answer.items,
  });

export const endpointQuery = (job: string) =>
  queryOptions({
    queryKey: keys.job(job, "endpoint"),
    queryFn: ({ signal }) => call("get", "/api/v1/jobs/{job}/endpoint", { path: { job }, signal }),
    retry: false,
  });
