// Nodes as a grid of GPUs, coloured by what one asks for; the same as a table; cordon and drain.
import { NativeSelect, useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Answered, Empty } from "../../components/StateBlock";
import { count, number } from "../../formats";
import { BYS, palette, valueOf, type By, type Device } from "./colours";
import { Grid } from "./Grid";
import { NodePanel } from "./NodePanel";
import { NodeTable } from "./NodeTable";
import { devicesOf, devicesQuery, nodesQuery } from "./queries";

export function ClusterPage() {
  const { colour = "quota" } = useSearch({ from: "/inside/cluster" });
  const navigate = useNavigate();
  const nodes = useQuery(nodesQuery);
  const occupied = useQuery(devicesQuery).data;
  const dark = useComputedColorScheme("light") === "dark";
  const [chosen, setChosen] = useState<string | null>(null);
  const by = BYS.includes(colour as By) ? (colour as By) : "quota";
  const devices = useMemo(() => new Map((occupied ?? []).map((node) => [node.node, devicesOf(node)])), [occupied]);
  const colours = useMemo(() => palette(valuesIn(devices, by), dark), [devices, by, dark]);
  return (
    <div className="page">
      <div className="head">
        <h1>Cluster</h1>
        <span className="dim">
          {nodes.data === undefined ? "" : `${count(nodes.data.length, "node")}, ${number(nodes.data.reduce((sum, one) => sum + one.gpus, 0))} GPU, ${number(nodes.data.reduce((sum, one) => sum + one.free_gpus, 0))} free`}
        </span>
        <div className="actions">
          <NativeSelect aria-label="Colour by" value={by} data={BYS.map((value) => ({ value, label: `colour by ${value}` }))} onChange={(e) => void navigate({ to: "/cluster", search: { colour: e.currentTarget.value }, replace: true })} />
        </div>
      </div>
      <Answered query={nodes}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There are no nodes yet">They join with <span className="mono">quotatree serve --nodes 16x8</span>, by an engine, or with the API.</Empty>
          ) : (
            <div className="stack">
              <ul className="legend" aria-label="Colours">
                {[...colours].slice(0, 24).map(([name, value]) => (
                  <li key={name}>
                    <span style={{ width: 12, height: 12, borderRadius: 2, background: value, display: "inline-block" }} aria-hidden="true" /> {by === "priority" ? `priority ${name}` : name}
                  </li>
                ))}
                <li>
                  <span style={{ width: 12, height: 12, borderRadius: 2, border: "1px solid var(--free)", display: "inline-block" }} aria-hidden="true" /> free
                </li>
              </ul>
              <Grid nodes={all} devices={devices} by={by} colours={colours} onChoose={setChosen} chosen={chosen} />
              {all.flatMap((one) => (one.name === chosen ? [<NodePanel key={one.name} node={one} devices={devices.get(one.name) ?? []} onClose={() => setChosen(null)} />] : []))}
              <NodeTable nodes={all} onChoose={setChosen} />
            </div>
          )
        }
      </Answered>
    </div>
  );
}

function valuesIn(devices: ReadonlyMap<string, Device[]>, by: By): string[] {
  const found: string[] = [];
  for (const all of devices.values()) for (const one of all) {
    const value = valueOf(one, by);
    if (value !== null) found.push(value);
  }
  return found;
}
