// On which nodes does the work of this quota and of those below it stand?
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import type { Job } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered, Empty } from "../../components/StateBlock";
import { JobRef } from "../../components/chips";
import { activeFilter } from "./queries";
import { useQuota } from "./useQuota";

type Row = { node: string; gpus: number; jobs: { id: string; name: string; devices: number[] }[] };

export function NodesTab() {
  const quota = useQuota();
  const filter = activeFilter(quota.id);
  const jobs = useQuery({ queryKey: keys.jobs(filter), queryFn: ({ signal }) => call("get", "/api/v1/jobs", { query: filter as never, signal }) });
  const columns: Column<Row>[] = [
    { key: "node", title: "Node", cell: (row) => <span className="mono">{row.node}</span> },
    { key: "gpus", title: "GPUs of this quota", right: true, cell: (row) => row.gpus },
    { key: "jobs", title: "Jobs", cell: (row) => row.jobs.map((one, place) => <span key={one.id}>{place > 0 ? ", " : ""}<JobRef id={one.id} name={one.name || one.id} /></span>) },
  ];
  return (
    <Answered query={jobs}>
      {(page) => {
        const rows = byNode(page.items);
        return rows.length === 0 ? <Empty title="No job of yours runs here">Its nodes are shown as soon as one does.</Empty> : <DataTable label="Nodes of this quota" columns={columns} rows={rows} rowId={(row) => row.node} />;
      }}
    </Answered>
  );
}

function byNode(jobs: readonly Job[]): Row[] {
  const found = new Map<string, Row>();
  for (const job of jobs)
    for (const place of job.places) {
      const row = found.get(place.node) ?? { node: place.node, gpus: 0, jobs: [] };
      row.gpus += place.devices.length;
      row.jobs.push({ id: job.id, name: job.name, devices: place.devices });
      found.set(place.node, row);
    }
  return [...found.values()].sort((a, b) => a.node.localeCompare(b.node, "en", { numeric: true }));
}
