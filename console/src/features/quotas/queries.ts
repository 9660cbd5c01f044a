// What the pages of quotas ask.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { lengthMs, type SpanName } from "./spans";

export { treeQuery } from "../../api/shared";

export const historyQuery = (quota: string) =>
  queryOptions({
    queryKey: keys.quota(quota, "history"),
    queryFn: ({ signal }) => call("get", "/api/v1/quotas/{quota}/history", { path: { quota }, query: { limit: 500 }, signal }),
    select: (answer) => [...answer.items].reverse(),
  });

export const queueQuery = (quota: string) =>
  queryOptions({
    queryKey: keys.quota(quota, "queue"),
    queryFn: ({ signal }) => call("get", "/api/v1/quotas/{quota}/queue", { path: { quota }, query: { limit: 200 }, signal }),
    select: (answer) => answer.items,
  });

/** The active jobs of a quota and of those below it, as far as one page holds them. */
export const activeFilter = (quota: string) => ({ quota: [quota], below: true, active: true, limit: 500 });

export const usersQuery = (quota: string, below: boolean) =>
  queryOptions({
    queryKey: keys.quota(quota, "users", below),
    queryFn: ({ signal }) => call("get", "/api/v1/quotas/{quota}/users", { path: { quota }, query: { below }, signal }),
    select: (answer) => answer.items,
  });

/** Its key is not among those that an event makes old: a new figure is written down once a minute, and asked for as often. */
export const seriesQuery = (quota: string, span: SpanName) =>
  queryOptions({
    queryKey: ["series", quota, span],
    queryFn: ({ signal }) => call("get", "/api/v1/quotas/{quota}/series", { path: { quota }, query: { since: Date.now() - lengthMs(span) }, signal }),
    placeholderData: keepPreviousData,
  });

export const takenQuery = (quota: string, span: SpanName) =>
  queryOptions({
    queryKey: keys.preemptions({ quota, span }),
    queryFn: ({ signal }) => call("get", "/api/v1/preemptions", { query: { quota: [quota], from_ms: Date.now() - lengthMs(span), limit: 200 }, signal }),
    placeholderData: keepPreviousData,
  });

/** GPU-hours of the quota; `by` are the keys of the rows. */
export const usageQuery = (quota: string, span: SpanName, by: readonly string[], below: boolean) =>
  queryOptions({
    queryKey: ["usage", quota, span, by, below],
    queryFn: ({ signal }) => call("get", "/api/v1/usage", { query: { quota, below, by: by.join(","), since: Date.now() - lengthMs(span) }, signal }),
    placeholderData: keepPreviousData,
  });
