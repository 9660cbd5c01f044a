// What the grid of the cluster asks: the nodes, and who is on each GPU.
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import type { Job, Node } from "../../api/types";
import type { Device } from "./colours";

export const nodesQuery = queryOptions({
  queryKey: keys.nodes,
  queryFn: ({ signal }) => call("get", "/api/v1/nodes", { signal }),
  select: (answer) => answer.items,
});

/** Running jobs with their places: all that the reader may see. */
export const placedQuery = queryOptions({
  queryKey: ["jobs", "placed"],
  queryFn: async ({ signal }) => {
    const all: Job[] = [];
    for (let cursor = ""; ; ) {
      const page = await call("get", "/api/v1/jobs", { query: { active: true, limit: 500, ...(cursor === "" ? {} : { cursor }) } as never, signal });
      all.push(...page.items.filter((job) => job.places.length > 0));
      if (page.next === null) return all;
      cursor = page.next;
    }
  },
});

/** The GPUs of a node: who is on each, as far as the reader may know. */
export function devicesOf(node: Node, placed: ReadonlyMap<string, Map<number, Job>>): Device[] {
  const on = placed.get(node.name) ?? new Map<number, Job>();
  return Array.from({ length: node.gpus }, (_, index) => {
    const job = on.get(index);
    const state = node.ill_gpus.includes(index) ? "ill" : job === undefined ? "free" : "busy";
    return { index, job: job?.id ?? null, quota: job?.quota ?? null, priority: job?.priority ?? null, module: job?.module ?? null, owner: job?.owner ?? null, state };
  });
}

export function placesOf(jobs: readonly Job[]): Map<string, Map<number, Job>> {
  const found = new Map<string, Map<number, Job>>();
  for (const job of jobs)
    for (const place of job.places) {
      const node = found.get(place.node) ?? new Map<number, Job>();
      for (const device of place.devices) node.set(device, job);
      found.set(place.node, node);
    }
  return found;
}
