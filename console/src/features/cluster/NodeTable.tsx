// The nodes in words.
import type { Node } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { number } from "../../formats";

export function NodeTable({ nodes, onChoose }: { nodes: readonly Node[]; onChoose: (node: string) => void }) {
  const columns: Column<Node>[] = [
    { key: "name", title: "Node", cell: (one) => <button className="linkish mono" onClick={() => onChoose(one.name)}>{one.name}</button> },
    { key: "state", title: "State", cell: (one) => <span className={one.state === "Ready" ? "chip good" : "chip warn"}>{one.state}</span> },
    { key: "pool", title: "Pool", from: "wide", cell: (one) => one.pool },
    { key: "model", title: "Model", from: "medium", cell: (one) => one.model },
    { key: "gpus", title: "GPUs", right: true, cell: (one) => one.gpus },
    { key: "free", title: "Free", right: true, cell: (one) => number(one.free_gpus) },
    { key: "leaving", title: "Leaving", from: "wide", right: true, cell: (one) => number(one.leaving_gpus) },
    { key: "ill", title: "Ill", from: "medium", right: true, cell: (one) => (one.ill_gpus.length === 0 ? "0" : <span className="bad">{one.ill_gpus.join(" ")}</span>) },
    { key: "jobs", title: "Jobs", right: true, cell: (one) => one.jobs },
  ];
  return <DataTable label="Nodes" columns={columns} rows={nodes} rowId={(one) => one.name} />;
}
