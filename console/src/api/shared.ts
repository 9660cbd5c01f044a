// Questions that more than one feature asks.
import { queryOptions, useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { call } from "./client";
import { keys } from "./keys";
import { isConflict } from "./problems";
import type { Preview, PreviewIn, WhoAmI } from "./types";

export const whoamiQuery = queryOptions({
  queryKey: keys.whoami,
  queryFn: ({ signal }) => call("get", "/api/v1/whoami", { signal }),
  staleTime: 60_000,
});

/** The quotas that the reader sees, and what is above them as stubs. */
export const treeQuery = queryOptions({
  queryKey: keys.quotas,
  queryFn: ({ signal }) => call("get", "/api/v1/quotas", { signal }),
});

export const quotasQuery = queryOptions({ ...treeQuery, select: (answer) => answer.items });

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: keys.job(id),
    queryFn: ({ signal }) => call("get", "/api/v1/jobs/{job}", { path: { job: id }, query: { positions: true }, signal }),
  });

export const workspacesQuery = queryOptions({
  queryKey: keys.workspaces,
  queryFn: ({ signal }) => call("get", "/api/v1/workspaces", { signal }),
  select: (answer) => answer.items,
});

export const prioritiesQuery = queryOptions({
  queryKey: keys.priorities,
  queryFn: ({ signal }) => call("get", "/api/v1/priorities", { signal }),
  select: (answer) => answer.names,
  staleTime: 300_000,
});

export function useWhoami(): WhoAmI {
  return useSuspenseQuery(whoamiQuery).data;
}

/** Asks what would happen; nothing is changed. */
export function preview(changes: PreviewIn["changes"], signal?: AbortSignal): Promise<Preview> {
  return call("post", "/api/v1/previews", signal === undefined ? { body: { changes } } : { body: { changes }, signal });
}

/** A change of something: when it is done, or refused since there is a newer version, what it may concern is asked anew first. */
export function useChange<V>(act: (value: V) => Promise<unknown>, stale: readonly (readonly unknown[])[], done?: (value: V) => void) {
  const client = useQueryClient();
  const renew = () => Promise.all(stale.map((queryKey) => client.invalidateQueries({ queryKey })));
  return useMutation({
    mutationFn: act,
    onSuccess: async (_, value) => {
      await renew();
      done?.(value);
    },
    onError: (error) => (isConflict(error) ? renew() : undefined),
  });
}
