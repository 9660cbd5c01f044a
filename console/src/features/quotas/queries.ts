// What the pages of quotas ask.
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";

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
