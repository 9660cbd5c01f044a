// What the what-if pages ask.
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import type { components } from "../../api/schema";

export type Simulation = components["schemas"]["SimulationOut"];
export type Simulated = components["schemas"]["SimulatedOut"];

export const runsQuery = queryOptions({
  queryKey: keys.simulations,
  queryFn: ({ signal }) => call("get", "/api/v1/simulations", { signal }),
  select: (answer) => answer.items,
  refetchInterval: 5_000,
});

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.simulations, id],
    queryFn: ({ signal }) => call("get", "/api/v1/simulations/{simulation}", { path: { simulation: id }, signal }),
    refetchInterval: (query) => (["waiting", "running"].includes(query.state.data?.state ?? "waiting") ? 1_000 : false),
  });
