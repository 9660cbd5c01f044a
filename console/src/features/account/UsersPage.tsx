// All accounts: new ones, who administers the platform, who is shut out.
import { Button, PasswordInput, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { sentence } from "../../api/problems";
import { useChange } from "../../api/shared";
import type { User } from "../../api/types";
import { Conflict, type Lines } from "../../components/Conflict";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered } from "../../components/StateBlock";
import { useDraft } from "../../components/useDraft";

export function UsersPage() {
  const users = useQuery({ queryKey: keys.users, queryFn: ({ signal }) => call("get", "/api/v1/users", { signal }), select: (answer) => answer.items });
  return (
    <div className="page stack">
      <div className="head" style={{ marginBottom: 0 }}>
        <h1>Users</h1>
      </div>
      <Answered query={users}>{(all) => <Accounts users={all} />}</Answered>
      <NewUser />
    </div>
  );
}

type Wish = { name: string; disabled?: boolean; platform_admin?: boolean };

const userLines = (user: User | undefined, wish: Partial<Wish> = {}): Lines => [
  ["platform admin", (wish.platform_admin ?? user?.platform_admin) ? "yes" : "no"],
  ["may sign in", (wish.disabled ?? user?.disabled) ? "no" : "yes"],
];

function Accounts({ users }: { users: User[] }) {
  const of = (all: readonly User[], wish: Wish) => all.find((one) => one.name === wish.name);
  const [asked, setAsked] = useState("");
  const change = useDraft<User[], Wish>({
    now: users,
    version: (all) => of(all, { name: asked })?.version,
    read: () => ({ name: asked }),
    send: (base, { name, ...body }) => call("patch", "/api/v1/users/{user}", { path: { user: name }, body, version: of(base, { name })?.version ?? 0 }),
    stale: [keys.users],
  });
  const { draft } = change;
  const ask = (wish: Wish) => {
    setAsked(wish.name);
    change.act(wish);
  };
  const columns: Column<User>[] = [
    { key: "name", title: "User", cell: (one) => one.name },
    { key: "display", title: "Name", from: "medium", cell: (one) => one.display ? <bdi>{one.display}</bdi> : <span className="dim">–</span> },
    { key: "email", title: "E-mail", from: "wide", cell: (one) => one.email || <span className="dim">–</span> },
    { key: "in", title: "Signs in by", from: "wide", cell: (one) => [one.has_password ? "password" : null, one.identity === null ? null : "identity provider", "token"].filter(Boolean).join(", ") },
    { key: "admin", title: "Platform admin", cell: (one) => <Switch aria-label={`${one.name} is platform admin`} checked={one.platform_admin} onChange={(e) => ask({ name: one.name, platform_admin: e.currentTarget.checked })} /> },
    { key: "open", title: "May sign in", cell: (one) => <Switch aria-label={`${one.name} may sign in`} checked={!one.disabled} onChange={(e) => ask({ name: one.name, disabled: !e.currentTarget.checked })} /> },
  ];
  return (
    <>
      {change.clash ? (
        <Conflict base={userLines(of(change.base, draft))} theirs={userLines(of(users, draft))} mine={userLines(of(change.base, draft), draft)} onTheirs={change.takeTheirs} onMine={() => change.act(draft)} goOn={`Do mine to ${draft.name} anyway`} />
      ) : null}
      {change.error === null ? null : <div className="notice bad" role="alert">{sentence(change.error)}</div>}
      <DataTable label="Users" columns={columns} rows={users} rowId={(one) => one.name} />
    </>
  );
}

function NewUser() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const save = useChange(
    () => call("post", "/api/v1/users", { body: { name: name.trim(), ...(password === "" ? {} : { password }) } }),
    [keys.users],
    () => {
      setName("");
      setPassword("");
    },
  );
  return (
    <section className="card stack" aria-label="New user">
      <h2>New user</h2>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <TextInput label="User" value={name} onChange={(e) => setName(e.currentTarget.value)} autoComplete="off" />
        <PasswordInput label="Password, or none" value={password} onChange={(e) => setPassword(e.currentTarget.value)} autoComplete="new-password" style={{ width: 200 }} />
        <Button disabled={name.trim() === ""} loading={save.isPending} onClick={() => save.mutate(undefined)}>
          Create
        </Button>
      </div>
      {save.error === null ? null : <div className="notice bad" role="alert">{sentence(save.error)}</div>}
    </section>
  );
}
