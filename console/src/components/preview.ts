// What does a preview say in short? Who starts, who leaves at which cost, who gets a hold, who becomes exposed.
import type { Decision, Preview } from "../api/types";

export type Told = {
  starts: Decision[];
  holds: Decision[];
  evicted: Decision[];
  demoted: Decision[];
  waits: Decision[];
  exposed: Preview["exposed"];
  lostGpuSeconds: number;
};

export function told(preview: Preview): Told {
  const of = (...kinds: string[]) => preview.decisions.filter((one) => kinds.includes(one.kind));
  const evicted = of("Evict", "Stop");
  return {
    starts: of("Start", "Promote"),
    holds: of("Hold"),
    evicted,
    demoted: of("Demote"),
    waits: of("Wait"),
    exposed: preview.exposed,
    lostGpuSeconds: evicted.reduce((sum, one) => sum + (one.lost_gpu_seconds ?? 0), 0),
  };
}

/** True if nothing that runs or waits would be touched now. */
export function isQuiet(said: Told): boolean {
  return said.starts.length + said.holds.length + said.evicted.length + said.demoted.length === 0;
}
