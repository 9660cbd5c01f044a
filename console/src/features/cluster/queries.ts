// What the grid of the cluster asks: the nodes, and who is on each GPU.
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import type { components } from "../../api/schema";
import type { Device } from "./colours";

export type NodeDevices = components["schemas"]["NodeDevicesOut"];

export const nodesQuery = queryOptions({
  queryKey: keys.nodes,
  queryFn: ({ signal }) => call("get", "/api/v1/nodes", { signal }),
  select: (answer) => answer.items,
});

export const devicesQuery = queryOptions({
  queryKey: ["nodes", "devices"],
  queryFn: async ({ signal }) => {
    const all: NodeDevices[] = [];
    for (let cursor = ""; ; ) {
      const page = await call("get", "/api/v1/node-devices", { query: { limit: 500, ...(cursor === "" ? {} : { cursor }) }, signal });
      all.push(...page.items);
      if (page.next === null) return all;
      cursor = page.next;
    }
  },
});

/** The GPUs of a node: who is on each, as far as the reader may know. Of several on one GPU the last is shown. */
export function devicesOf(node: NodeDevices): Device[] {
  const devices: Device[] = Array.from({ length: node.gpus }, (_, index) => ({
    index, job: null, name: null, quota: null, priority: null, module: null, owner: null, state: node.ill.includes(index) ? "ill" : "free",
  }));
  for (const one of node.occupants)
    for (const index of one.devices) {
      const device = devices[index];
      if (device === undefined || device.state === "ill") continue;
      Object.assign(device, { job: one.job, name: one.name, quota: one.quota, priority: one.priority, module: one.module, owner: one.owner, state: one.leaving ? "leaving" : "busy" });
    }
  return devices;
}
