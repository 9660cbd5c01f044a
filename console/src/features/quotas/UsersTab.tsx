// Who uses how much of this quota, and who waits for how much, since when? The rows add up to the figures of the quota.
import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { QuotaUser } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered, Empty } from "../../components/StateBlock";
import { Ago } from "../../components/chips";
import { count, gpus } from "../../formats";
import { usersQuery } from "./queries";
import { useQuota } from "./useQuota";

export function UsersTab() {
  const quota = useQuota();
  const { own } = useSearch({ from: "/inside/quotas/$quota/users" });
  const navigate = useNavigate();
  const users = useQuery(usersQuery(quota.id, !own));
  return (
    <div className="stack">
      <Switch
        label="With the quotas below"
        checked={!own}
        onChange={(e) => void navigate({ to: "/quotas/$quota/users", params: { quota: quota.id }, search: e.currentTarget.checked ? {} : { own: true }, replace: true })}
      />
      <Answered query={users}>{(rows) => (rows.length === 0 ? <Empty title="Nobody uses or waits for this quota" /> : <UsersTable rows={rows} />)}</Answered>
    </div>
  );
}

function UsersTable({ rows }: { rows: QuotaUser[] }) {
  const most = Math.max(1, ...rows.map((row) => row.regular_gpus + row.idle_gpus + row.waiting_gpus));
  const columns: Column<QuotaUser>[] = [
    { key: "user", title: "User", cell: (row) => row.user ?? <span className="dim">others, whom you may not see</span> },
    { key: "workspace", title: "Workspace", from: "wide", cell: (row) => row.workspace ?? "" },
    { key: "uses", title: "Uses", right: true, cell: (row) => <span title={count(row.running_jobs, "job")}>{gpus(row.regular_gpus)}</span> },
    { key: "idle", title: "Idle", right: true, from: "medium", cell: (row) => gpus(row.idle_gpus) },
    { key: "waiting", title: "Waits for", right: true, cell: (row) => <span title={count(row.waiting_jobs, "job")}>{gpus(row.waiting_gpus)}</span> },
    { key: "since", title: "For", from: "medium", cell: (row) => (row.oldest_waiting_since_ms === null ? <span className="dim">–</span> : <Ago from={row.oldest_waiting_since_ms} />) },
    { key: "jobs", title: "Jobs", right: true, from: "wide", cell: (row) => row.running_jobs + row.waiting_jobs },
    { key: "bar", title: "Share", width: "32%", from: "medium", cell: (row) => <Share row={row} most={most} /> },
  ];
  return <DataTable label="Users of this quota" columns={columns} rows={rows} rowId={(row) => `${row.user ?? ""} ${row.workspace ?? ""}`} />;
}

function Share({ row, most }: { row: QuotaUser; most: number }) {
  const text = `${row.user ?? "others"}: ${gpus(row.regular_gpus)} in ${count(row.running_jobs, "job")}, ${gpus(row.idle_gpus)} idle; waits for ${gpus(row.waiting_gpus)} in ${count(row.waiting_jobs, "job")}`;
  const part = (shade: string, from: number, amount: number) => (amount > 0 ? <span className={`seg ${shade}`} style={{ left: `${(from / most) * 100}%`, width: `${(amount / most) * 100}%` }} /> : null);
  return (
    <div className="qbar" role="img" aria-label={text} title={text}>
      {part("own", 0, row.regular_gpus)}
      {part("idle", row.regular_gpus, row.idle_gpus)}
      {part("queued", row.regular_gpus + row.idle_gpus, row.waiting_gpus)}
    </div>
  );
}
