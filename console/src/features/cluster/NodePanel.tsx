// One node: its GPUs and who is on them; cordon, drain and ready again, with what a drain would do.
import { Button } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import type { Node } from "../../api/types";
import { Conflict, type Lines } from "../../components/Conflict";
import { PreviewPanel } from "../../components/PreviewPanel";
import { JobRef } from "../../components/chips";
import { useDraft } from "../../components/useDraft";
import type { Device } from "./colours";

type Verb = "cordon" | "uncordon" | "drain";
const PATHS = { cordon: "/api/v1/nodes/{node}/cordon", uncordon: "/api/v1/nodes/{node}/uncordon", drain: "/api/v1/nodes/{node}/drain" } as const;
const BECOMES: Record<Verb, string> = { cordon: "Cordoned", uncordon: "Ready", drain: "Draining" };
const stateLine = (state: string): Lines => [["state", state]];

export function NodePanel({ node, devices, onClose }: { node: Node; devices: readonly Device[]; onClose: () => void }) {
  const [draining, setDraining] = useState(false);
  const change = useDraft<Node, Verb>({
    now: node,
    version: (one) => one.version,
    read: () => "uncordon",
    send: (base, verb) => call("post", PATHS[verb], { path: { node: base.name }, version: base.version }),
    stale: [["nodes"], ["jobs"], ["quotas"]],
    done: () => setDraining(false),
  });
  const jobs = [...new Set(devices.flatMap((one) => (one.job === null ? [] : [one.job])))];
  return (
    <section className="card stack" aria-label={`Node ${node.name}`}>
      <div className="row apart">
        <h2>
          {node.name} <span className={node.state === "Ready" ? "chip good" : "chip warn"}>{node.state}</span>
        </h2>
        <div className="row">
          {can(node, "manage-nodes") ? (
            <>
              {node.state === "Ready" ? (
                <Button variant="default" loading={change.pending} onClick={() => change.act("cordon")}>
                  Cordon
                </Button>
              ) : (
                <Button variant="default" loading={change.pending} onClick={() => change.act("uncordon")}>
                  Make ready
                </Button>
              )}
              {node.state === "Draining" ? null : (
                <Button variant="default" onClick={() => setDraining(true)}>
                  Drain
                </Button>
              )}
            </>
          ) : null}
          <Button variant="subtle" onClick={onClose}>
            Close
          </Button>
        </div>
      </div>
      {change.clash ? <Conflict base={stateLine(change.base.state)} theirs={stateLine(node.state)} mine={stateLine(BECOMES[change.draft])} onTheirs={change.takeTheirs} onMine={() => change.act(change.draft)} goOn="Do mine anyway" /> : null}
      {change.error === null ? null : <div className="notice bad" role="alert">{sentence(change.error)}</div>}
      {draining ? (
        <div className="stack">
          <PreviewPanel title="If drained now" changes={[{ change: "node-state", node: node.name, state: "Draining" } as never]} />
          <div className="row">
            <Button loading={change.pending} onClick={() => change.act("drain")}>
              Drain {node.name}
            </Button>
            <Button variant="default" onClick={() => setDraining(false)}>
              Leave it
            </Button>
          </div>
        </div>
      ) : null}
      <ul style={{ margin: 0, paddingLeft: 18 }}>
        {jobs.map((job) => (
          <li key={job}>
            <JobRef id={job} name={devices.find((one) => one.job === job)?.name ?? undefined} /> <span className="dim">GPU {devices.filter((one) => one.job === job).map((one) => one.index).join(" ")}</span>
          </li>
        ))}
        {jobs.length === 0 ? <li className="dim">no job that you may see</li> : null}
      </ul>
    </section>
  );
}
