// Oneself: roles, password, tokens.
import { Button, PasswordInput, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { sentence } from "../../api/problems";
import { useChange, useWhoami } from "../../api/shared";
import type { Token } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered } from "../../components/StateBlock";
import { QuotaRef, When } from "../../components/chips";

export function MePage() {
  const me = useWhoami();
  return (
    <div className="page stack">
      <div className="head" style={{ marginBottom: 0 }}>
        <h1>{me.user.name}</h1>
        <bdi className="dim">{me.user.display}</bdi>
        {me.user.platform_admin ? <span className="chip info">platform admin</span> : null}
      </div>
      <section className="card stack tight" aria-label="Roles">
        <h2>Roles</h2>
        <ul className="lines">
          {me.workspaces.map((one) => (
            <li key={one.workspace}>
              <Link to="/workspaces/$workspace" params={{ workspace: one.workspace }}>{one.workspace}</Link> <span className="dim">{one.roles.join(", ")}</span>
            </li>
          ))}
          {me.quota_admin_of.map((one) => (
            <li key={one}>
              <QuotaRef id={one} /> <span className="dim">quota admin</span>
            </li>
          ))}
          {me.workspaces.length + me.quota_admin_of.length === 0 ? <li className="dim">No role in any workspace.</li> : null}
        </ul>
      </section>
      <Tokens user={me.user.name} />
      <Password user={me.user.name} has={me.user.has_password} />
    </div>
  );
}

function Tokens({ user }: { user: string }) {
  const tokens = useQuery({ queryKey: keys.tokens(user), queryFn: ({ signal }) => call("get", "/api/v1/tokens", { query: { user }, signal }), select: (answer) => answer.items.filter((one) => one.revoked_ms === null) });
  const [name, setName] = useState("");
  const [readOnly, setReadOnly] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const make = useChange(async () => setMade((await call("post", "/api/v1/tokens", { body: { name: name.trim(), lasts: "90d", read_only: readOnly } })).token), [keys.tokens(user)], () => setName(""));
  const revoke = useChange((id: string) => call("delete", "/api/v1/tokens/{token}", { path: { token: id } }), [keys.tokens(user)]);
  const columns: Column<Token>[] = [
    { key: "name", title: "Token", cell: (one) => one.name },
    { key: "id", title: "Id", from: "medium", cell: (one) => <span className="mono">{one.id}</span> },
    { key: "may", title: "May", from: "wide", cell: (one) => (one.read_only ? "read" : "everything you may") },
    { key: "created", title: "Made", from: "wide", cell: (one) => <When at={one.created_ms} /> },
    { key: "expires", title: "Ends", cell: (one) => (one.expires_ms === null ? <span className="dim">never</span> : <When at={one.expires_ms} />) },
    { key: "revoke", title: "", right: true, cell: (one) => <button className="linkish" onClick={() => revoke.mutate(one.id)} aria-label={`Revoke ${one.name}`}>Revoke</button> },
  ];
  const error = make.error ?? revoke.error;
  return (
    <section className="card stack" aria-label="Tokens">
      <h2>Tokens</h2>
      <Answered query={tokens}>{(all) => (all.length === 0 ? <p className="dim">None. A token lets the command line and programs act as you.</p> : <DataTable label="Tokens" columns={columns} rows={all} rowId={(one) => one.id} />)}</Answered>
      {made === null ? null : (
        <div className="notice good" role="status">
          Shown this once: <span className="mono">{made}</span>
        </div>
      )}
      <div className="row" style={{ alignItems: "flex-end" }}>
        <TextInput label="Name of a new token" value={name} onChange={(e) => setName(e.currentTarget.value)} />
        <Switch label="reads only" checked={readOnly} onChange={(e) => setReadOnly(e.currentTarget.checked)} />
        <Button disabled={name.trim() === ""} loading={make.isPending} onClick={() => make.mutate(undefined)}>
          Make, for 90 days
        </Button>
      </div>
      {error === null ? null : <div className="notice bad" role="alert">{sentence(error)}</div>}
    </section>
  );
}

function Password({ user, has }: { user: string; has: boolean }) {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const save = useChange(
    () => call("put", "/api/v1/users/{user}/password", { path: { user }, body: { password, ...(has ? { current } : {}) } }),
    [keys.whoami],
    () => {
      setCurrent("");
      setPassword("");
    },
  );
  return (
    <section className="card stack" aria-label="Password">
      <h2>Password</h2>
      <div className="row" style={{ alignItems: "flex-end" }}>
        {has ? <PasswordInput label="Current" value={current} onChange={(e) => setCurrent(e.currentTarget.value)} autoComplete="current-password" style={{ width: 200 }} /> : null}
        <PasswordInput label="New" value={password} onChange={(e) => setPassword(e.currentTarget.value)} autoComplete="new-password" style={{ width: 200 }} />
        <Button disabled={password === ""} loading={save.isPending} onClick={() => save.mutate(undefined)}>
          Change
        </Button>
      </div>
      {save.isSuccess ? <div className="notice good" role="status">It is changed. Other sessions have ended.</div> : null}
      {save.error === null ? null : <div className="notice bad" role="alert">{sentence(save.error)}</div>}
    </section>
  );
}
