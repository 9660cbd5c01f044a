// Who did what, newest first.
import { TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { useWhoami } from "../../api/shared";
import { can } from "../../api/rights";
import type { Audit } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered, Empty } from "../../components/StateBlock";
import { When } from "../../components/chips";
import { Told } from "./Told";
import { eachOnce } from "./words";

const COLUMNS: Column<Audit>[] = [
  { key: "at", title: "When", from: "medium", cell: (one) => <When at={one.at_ms} /> },
  { key: "actor", title: "Who", cell: (one) => one.actor },
  { key: "told", title: "Did", rest: true, cell: (one) => <span title={`${one.action} ${one.target}\n${JSON.stringify(one.body, null, 1)}`}><Told audit={one} /></span> },
  { key: "workspace", title: "Workspace", from: "wide", cell: (one) => one.workspace ?? <span className="dim">–</span> },
];

export function AuditPage() {
  const search = useSearch({ from: "/inside/audit" });
  const navigate = useNavigate();
  const me = useWhoami();
  const filter = { ...search, ...(can(me, "see-audit") ? {} : { workspace: me.workspaces.map((one) => one.workspace) }) };
  const audit = useInfiniteQuery({
    queryKey: keys.audit(filter),
    queryFn: ({ signal, pageParam }) => call("get", "/api/v1/audit", { query: { ...filter, limit: 200, ...(pageParam === "" ? {} : { cursor: pageParam }) } as never, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next ?? undefined,
  });
  const rows = eachOnce(audit.data?.pages.flatMap((page) => page.items) ?? []);
  const set = (part: object) => void navigate({ to: "/audit", search: Object.fromEntries(Object.entries({ ...search, ...part }).filter(([, value]) => value)), replace: true });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = audit;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <div className="page fixed">
      <div className="head">
        <h1>Audit</h1>
      </div>
      <div className="filters" role="search" aria-label="Filter the audit">
        <TextInput aria-label="Who" placeholder="Who" defaultValue={search.actor ?? ""} onBlur={(e) => set({ actor: e.currentTarget.value })} onKeyDown={(e) => e.key === "Enter" && set({ actor: e.currentTarget.value })} />
        <TextInput aria-label="Action" placeholder="Did, such as quota.scaled" defaultValue={search.action ?? ""} onBlur={(e) => set({ action: e.currentTarget.value })} onKeyDown={(e) => e.key === "Enter" && set({ action: e.currentTarget.value })} />
        <TextInput aria-label="Target" placeholder="To" defaultValue={search.target ?? ""} onBlur={(e) => set({ target: e.currentTarget.value })} onKeyDown={(e) => e.key === "Enter" && set({ target: e.currentTarget.value })} />
      </div>
      <Answered query={audit}>
        {() => (rows.length === 0 ? <Empty title="Nothing like this was done">Take a filter away to see more.</Empty> : <DataTable label="Audit" columns={COLUMNS} rows={rows} rowId={(one) => String(one.seq)} onEnd={more} />)}
      </Answered>
    </div>
  );
}
