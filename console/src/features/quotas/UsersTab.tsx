// Who uses how much of this quota, and who waits for how much? Of the jobs that the reader may see.
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered, Empty } from "../../components/StateBlock";
import { number } from "../../formats";
import { activeFilter } from "./queries";
import { byUser, type UserRow } from "./users";
import { useQuota } from "./useQuota";

export function UsersTab() {
  const quota = useQuota();
  const filter = activeFilter(quota.id);
  const jobs = useQuery({ queryKey: keys.jobs(filter), queryFn: ({ signal }) => call("get", "/api/v1/jobs", { query: filter as never, signal }) });
  return (
    <Answered query={jobs}>
      {(page) => {
        const rows = byUser(page.items);
        const most = Math.max(1, ...rows.map((row) => row.running + row.waiting));
        const columns: Column<UserRow>[] = [
          { key: "user", title: "User", cell: (row) => row.user },
          { key: "workspace", title: "Workspace", from: "medium", cell: (row) => row.workspace },
          { key: "running", title: "Uses", right: true, cell: (row) => `${number(row.running)} GPU` },
          { key: "waiting", title: "Waits for", right: true, cell: (row) => `${number(row.waiting)} GPU` },
          { key: "jobs", title: "Jobs", from: "medium", right: true, cell: (row) => row.jobs },
          { key: "bar", title: "Share", width: "40%", cell: (row) => <Share row={row} most={most} /> },
        ];
        return rows.length === 0 ? <Empty title="Nobody whom you may see works here">Jobs of other teams are in the figures, not in this list.</Empty> : <DataTable label="Users of this quota" columns={columns} rows={rows} rowId={(row) => `${row.user} ${row.workspace}`} />;
      }}
    </Answered>
  );
}

function Share({ row, most }: { row: UserRow; most: number }) {
  const text = `${row.user} uses ${row.running} GPU and waits for ${row.waiting}`;
  return (
    <div className="qbar" role="img" aria-label={text} title={text}>
      <span className="seg own" style={{ left: 0, width: `${(row.running / most) * 100}%` }} />
      {row.waiting > 0 ? <span className="seg queued" style={{ left: `${(row.running / most) * 100}%`, width: `${(row.waiting / most) * 100}%` }} /> : null}
    </div>
  );
}
