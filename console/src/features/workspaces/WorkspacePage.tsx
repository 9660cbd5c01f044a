// One workspace: members and roles, bound quotas, and the scheduling centre of each.
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import { quotasQuery, useChange, workspacesQuery } from "../../api/shared";
import type { Workspace } from "../../api/types";
import { Conflict, type Lines } from "../../components/Conflict";
import { Empty, Missing } from "../../components/StateBlock";
import { QuotaRef } from "../../components/chips";
import { useDraft } from "../../components/useDraft";
import { CentreForm } from "./CentreForm";

const TABS = [
  ["/workspaces/$workspace", "Members"],
  ["/workspaces/$workspace/quotas", "Quotas"],
  ["/workspaces/$workspace/centre", "Scheduling centre"],
] as const;
const ROLES = ["developer", "viewer", "operator", "admin", "owner"] as const;

export function WorkspacePage({ tab }: { tab: "members" | "quotas" | "centre" }) {
  const { workspace: id } = useParams({ strict: false });
  const found = useSuspenseQuery(workspacesQuery).data.find((one) => one.id === id);
  if (found === undefined || id === undefined)
    return (
      <div className="page">
        <Missing what="workspace" id={id ?? ""} all="/workspaces" name="All workspaces" />
      </div>
    );
  return (
    <div className="page">
      <div className="head">
        <h1>{found.id}</h1>
        {can(found, "update-workspace") ? <About key={found.id} workspace={found} /> : <bdi className="dim named">{found.description}</bdi>}
      </div>
      <nav className="tabs" aria-label="Parts of the workspace">
        {TABS.map(([to, name]) => (
          <Link key={to} to={to} params={{ workspace: id }} activeOptions={{ exact: true }}>
            {name}
          </Link>
        ))}
      </nav>
      {tab === "members" ? <Members workspace={found} /> : tab === "quotas" ? <Bound workspace={found} /> : <Centres workspace={found} />}
    </div>
  );
}

export const MembersPage = () => <WorkspacePage tab="members" />;
export const BoundPage = () => <WorkspacePage tab="quotas" />;
export const CentrePage = () => <WorkspacePage tab="centre" />;

const STALE = [["workspaces"], ["workspace"]];

function About({ workspace }: { workspace: Workspace }) {
  const [open, setOpen] = useState(false);
  const edit = useDraft<Workspace, string>({
    now: workspace,
    version: (one) => one.version,
    read: (one) => one.description,
    send: (base, description) => call("patch", "/api/v1/workspaces/{workspace}", { path: { workspace: base.id }, body: { description }, version: base.version }),
    stale: STALE,
    done: () => setOpen(false),
  });
  const line = (text: string): Lines => [["description", text || "none"]];
  const leave = () => {
    edit.takeTheirs();
    setOpen(false);
  };
  if (!open)
    return (
      <span className="row">
        <span className="dim">{workspace.description}</span>
        <button className="linkish small" onClick={() => setOpen(true)}>
          {workspace.description === "" ? "Describe it" : "Edit"}
        </button>
      </span>
    );
  return (
    <form
      className="grow stack tight"
      aria-label="Description"
      onSubmit={(event) => {
        event.preventDefault();
        edit.save();
      }}
    >
      <div className="row">
        <TextInput aria-label="Description" value={edit.draft} onChange={(e) => edit.set(e.currentTarget.value)} autoFocus style={{ flex: 1, maxWidth: 480 }} />
        <Button type="submit" loading={edit.pending} disabled={edit.draft === edit.base.description}>
          Save
        </Button>
        <Button variant="default" onClick={leave}>
          Cancel
        </Button>
      </div>
      {edit.clash ? <Conflict base={line(edit.base.description)} theirs={line(workspace.description)} mine={line(edit.draft)} onTheirs={edit.takeTheirs} onMine={edit.goOn} /> : null}
      {edit.error === null ? null : <div className="notice bad" role="alert">{sentence(edit.error)}</div>}
    </form>
  );
}

function Members({ workspace }: { workspace: Workspace }) {
  const [user, setUser] = useState("");
  const [role, setRole] = useState<(typeof ROLES)[number]>("developer");
  const path = { workspace: workspace.id };
  const add = useChange(() => call("post", "/api/v1/workspaces/{workspace}/members", { path, body: { user: user.trim(), role } }), STALE, () => setUser(""));
  const remove = useChange((one: { user: string; role: string }) => call("delete", "/api/v1/workspaces/{workspace}/members/{user}", { path: { ...path, user: one.user }, query: { role: one.role } as never }), STALE);
  const may = can(workspace, "manage-members");
  const error = add.error ?? remove.error;
  return (
    <div className="stack">
      <div className="tablebox" tabIndex={0} role="region" aria-label="Table: Members">
        <table className="data">
          <thead>
            <tr>
              <th scope="col">Member</th>
              <th scope="col">Role</th>
              {may ? <th scope="col"><span className="visually-hidden">actions</span></th> : null}
            </tr>
          </thead>
          <tbody>
            {workspace.members.map((one) => (
              <tr key={`${one.user} ${one.role}`}>
                <td>{one.user}</td>
                <td>{one.role}</td>
                {may ? (
                  <td className="right">
                    <button className="linkish" aria-label={`Remove ${one.user} as ${one.role}`} onClick={() => remove.mutate(one)}>
                      Remove
                    </button>
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {may ? (
        <div className="row" style={{ alignItems: "flex-end" }}>
          <TextInput label="User" value={user} onChange={(e) => setUser(e.currentTarget.value)} />
          <NativeSelect label="Role" value={role} data={[...ROLES]} onChange={(e) => setRole(e.currentTarget.value as "viewer")} />
          <Button disabled={user.trim() === ""} loading={add.isPending} onClick={() => add.mutate(undefined)}>
            Add
          </Button>
        </div>
      ) : null}
      {error === null ? null : <div className="notice bad" role="alert">{sentence(error)}</div>}
    </div>
  );
}

function Bound({ workspace }: { workspace: Workspace }) {
  const quotas = useQuery(quotasQuery).data ?? [];
  const bindable = quotas.filter((one) => can(one, "bind-quota") && !workspace.quotas.includes(one.id)).map((one) => one.id);
  const [quota, setQuota] = useState("");
  const chosen = quota || (bindable[0] ?? "");
  const path = { workspace: workspace.id };
  const bind = useChange((one: string) => call("put", "/api/v1/workspaces/{workspace}/quotas/{quota}", { path: { ...path, quota: one } }), STALE);
  const unbind = useChange((one: string) => call("delete", "/api/v1/workspaces/{workspace}/quotas/{quota}", { path: { ...path, quota: one } }), STALE);
  const error = bind.error ?? unbind.error;
  return (
    <div className="stack">
      {workspace.quotas.length === 0 ? <Empty title="Bound to no quota yet">Its jobs need one to run in.</Empty> : null}
      <ul className="lines">
        {workspace.quotas.map((one) => (
          <li key={one} className="row apart">
            <QuotaRef id={one} />
            {can(quotas.find((found) => found.id === one), "unbind-quota") ? (
              <button className="linkish" onClick={() => unbind.mutate(one)}>
                Unbind
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {bindable.length === 0 ? null : (
        <div className="row" style={{ alignItems: "flex-end" }}>
          <NativeSelect label="Quota" value={chosen} data={bindable} onChange={(e) => setQuota(e.currentTarget.value)} />
          <Button loading={bind.isPending} onClick={() => bind.mutate(chosen)}>
            Bind
          </Button>
        </div>
      )}
      {error === null ? null : <div className="notice bad" role="alert">{sentence(error)}</div>}
    </div>
  );
}

function Centres({ workspace }: { workspace: Workspace }) {
  if (workspace.quotas.length === 0) return <Empty title="Bound to no quota yet">The scheduling centre has rules for each quota that the workspace is bound to.</Empty>;
  return (
    <div className="stack">
      {workspace.quotas.map((quota) => (
        <CentreForm key={quota} workspace={workspace} quota={quota} />
      ))}
    </div>
  );
}
