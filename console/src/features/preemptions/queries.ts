// What the ledger asks.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";

export type LedgerSearch = { quota?: string; job?: string; step?: string };

const PAGE = 100;

export const ledgerQuery = (search: LedgerSearch) =>
  infiniteQueryOptions({
    queryKey: keys.preemptions(search),
    queryFn: ({ signal, pageParam }) =>
      call("get", "/api/v1/preemptions", {
        query: {
          limit: PAGE,
          ...(search.quota === undefined ? {} : { quota: [search.quota] }),
          ...(search.job === undefined ? {} : { job: search.job }),
          ...(search.step === undefined ? {} : { step: [search.step] }),
          ...(pageParam === "" ? {} : { cursor: pageParam }),
        } as never,
        signal,
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next ?? undefined,
  });

/** One decision, and what became of its jobs. `seq` is what the address says, which may be no number. */
export const decisionQuery = (seq: string) =>
  queryOptions({
    queryKey: keys.preemptions({ seq }),
    queryFn: ({ signal }) => call("get", "/api/v1/preemptions/{seq}", { path: { seq: seq as never }, signal }),
  });
