// The workspaces that one may see: who works there, with which quotas.
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import { useChange, useWhoami, workspacesQuery } from "../../api/shared";
import type { Workspace } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered, Empty } from "../../components/StateBlock";
import { QuotaRef } from "../../components/chips";
import { count } from "../../formats";

const COLUMNS: Column<Workspace>[] = [
  { key: "id", title: "Workspace", cell: (one) => <Link to="/workspaces/$workspace" params={{ workspace: one.id }}>{one.id}</Link> },
  { key: "members", title: "Members", cell: (one) => count(new Set(one.members.map((member) => member.user)).size, "member") },
  { key: "quotas", title: "Quotas", cell: (one) => one.quotas.map((quota, place) => <span key={quota}>{place > 0 ? ", " : ""}<QuotaRef id={quota} /></span>) },
  { key: "description", title: "About", cell: (one) => <bdi className="dim">{one.description}</bdi> },
];

export function WorkspacesPage() {
  const me = useWhoami();
  const workspaces = useQuery(workspacesQuery);
  return (
    <div className="page stack">
      <div className="head" style={{ marginBottom: 0 }}>
        <h1>Workspaces</h1>
      </div>
      <Answered query={workspaces}>
        {(all) => (all.length === 0 ? <Empty title="You are in no workspace">Ask an owner of one to add you.</Empty> : <DataTable label="Workspaces" columns={COLUMNS} rows={all} rowId={(one) => one.id} />)}
      </Answered>
      {can(me, "create-workspace") ? <NewWorkspace /> : null}
    </div>
  );
}

function NewWorkspace() {
  const [id, setId] = useState("");
  const [owner, setOwner] = useState("");
  const save = useChange(() => call("post", "/api/v1/workspaces", { body: { id: id.trim(), owners: owner.trim() === "" ? [] : [owner.trim()] } }), [["workspaces"]], () => setId(""));
  return (
    <section className="card stack" aria-label="New workspace">
      <h2>New workspace</h2>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <TextInput label="Name" value={id} onChange={(e) => setId(e.currentTarget.value)} />
        <TextInput label="Owner" value={owner} onChange={(e) => setOwner(e.currentTarget.value)} />
        <Button disabled={id.trim() === ""} loading={save.isPending} onClick={() => save.mutate(undefined)}>
          Create
        </Button>
      </div>
      {save.error === null ? null : <div className="notice bad" role="alert">{sentence(save.error)}</div>}
    </section>
  );
}
