// The scheduling centre of a workspace in one quota (W3): modules, roles, amounts, ceilings, longest run and wait.
import { Button, Checkbox, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { isConflict, sentence } from "../../api/problems";
import { can } from "../../api/rights";
import { useChange } from "../../api/shared";
import type { Centre, CentreIn, Workspace } from "../../api/types";
import { ModuleChoice } from "../../components/ModuleChoice";
import { Answered } from "../../components/StateBlock";
import { readTimes, writeTimes } from "./times";

const ROLES = ["owner", "admin", "operator", "developer"];

export function CentreForm({ workspace, quota }: { workspace: Workspace; quota: string }) {
  const path = { workspace: workspace.id, quota };
  const centre = useQuery({
    queryKey: keys.workspace(workspace.id, "centre", quota),
    queryFn: ({ signal }) => call("get", "/api/v1/workspaces/{workspace}/quotas/{quota}/centre", { path, signal }),
  });
  return (
    <section className="card stack" aria-label={`Scheduling centre in ${quota}`}>
      <Answered query={centre}>{(found) => <Form key={found.version} centre={found} may={can(workspace, "set-centre")} />}</Answered>
    </section>
  );
}

type Row = { who: string; priorities: string; gpus: string };

function Form({ centre, may }: { centre: Centre; may: boolean }) {
  const [modules, setModules] = useState<string[]>(centre.modules.length === 0 ? ["DLC", "DSW", "EAS"] : centre.modules);
  const [roles, setRoles] = useState<string[]>(centre.roles.length === 0 ? ROLES : centre.roles);
  const [amounts, setAmounts] = useState<Row[]>(centre.amounts.map((one) => ({ ...one, gpus: String(one.gpus) })));
  const [ceilings, setCeilings] = useState(centre.ceilings.map((one) => ({ who: one.who, priority: String(one.priority) })));
  const [run, setRun] = useState(writeTimes(centre.longest_run));
  const [wait, setWait] = useState(writeTimes(centre.longest_wait));
  const body = {
    modules: modules.length === 3 ? [] : modules,
    roles: roles.length === 4 ? [] : roles,
    amounts: amounts.map((one) => ({ ...one, gpus: Number(one.gpus) })),
    ceilings: ceilings.map((one) => ({ who: one.who, priority: Number(one.priority) })),
    longest_run: readTimes(run),
    longest_wait: readTimes(wait),
  } as unknown as CentreIn;
  const path = { workspace: centre.workspace, quota: centre.quota };
  const save = useChange(() => call("put", "/api/v1/workspaces/{workspace}/quotas/{quota}/centre", { path, body, version: centre.version }), [["workspace", centre.workspace]]);
  const set = <T,>(list: T[], place: number, part: Partial<T>) => list.map((one, at) => (at === place ? { ...one, ...part } : one));
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(undefined);
      }}
    >
      <div className="row apart">
        <h2>{centre.quota}</h2>
        <span className="dim small">{centre.version === 0 ? "never set: everything is allowed" : `version ${centre.version}`}</span>
      </div>
      <fieldset className="plainset stack" disabled={!may}>
        <legend className="visually-hidden">Rules in {centre.quota}</legend>
        <ModuleChoice label="Modules" value={modules} onChange={setModules} error={modules.length === 0 ? "choose at least one module" : undefined} />
        <fieldset className="plainset">
          <legend>Roles that may submit</legend>
          <div className="row">
            {ROLES.map((role) => (
              <Checkbox key={role} label={role} checked={roles.includes(role)} onChange={(e) => setRoles(ROLES.filter((one) => (one === role ? e.currentTarget.checked : roles.includes(one))))} />
            ))}
          </div>
        </fieldset>
        {amounts.map((one, place) => (
          <div className="row" key={place} style={{ alignItems: "flex-end" }}>
            <TextInput label="Amount: role or member" value={one.who} onChange={(e) => setAmounts(set(amounts, place, { who: e.currentTarget.value }))} />
            <TextInput label="Priorities" value={one.priorities} onChange={(e) => setAmounts(set(amounts, place, { priorities: e.currentTarget.value }))} style={{ width: 90 }} />
            <TextInput label="GPUs at most" value={one.gpus} inputMode="decimal" onChange={(e) => setAmounts(set(amounts, place, { gpus: e.currentTarget.value }))} style={{ width: 110 }} />
            {may ? <button type="button" className="linkish small" onClick={() => setAmounts(amounts.filter((_, at) => at !== place))}>Remove</button> : null}
          </div>
        ))}
        {ceilings.map((one, place) => (
          <div className="row" key={place} style={{ alignItems: "flex-end" }}>
            <TextInput label="Ceiling: role or member" value={one.who} onChange={(e) => setCeilings(set(ceilings, place, { who: e.currentTarget.value }))} />
            <TextInput label="Priority at most" value={one.priority} onChange={(e) => setCeilings(set(ceilings, place, { priority: e.currentTarget.value }))} style={{ width: 120 }} />
            {may ? <button type="button" className="linkish small" onClick={() => setCeilings(ceilings.filter((_, at) => at !== place))}>Remove</button> : null}
          </div>
        ))}
        {may ? (
          <div className="row">
            <Button variant="default" onClick={() => setAmounts([...amounts, { who: "developer", priorities: "1-9", gpus: "16" }])}>
              Add an amount
            </Button>
            <Button variant="default" onClick={() => setCeilings([...ceilings, { who: "developer", priority: "5" }])}>
              Add a ceiling
            </Button>
          </div>
        ) : null}
        <div className="pair">
          <TextInput label="Longest run" placeholder="24h, or DLC 24h, DSW 8h" value={run} onChange={(e) => setRun(e.currentTarget.value)} />
          <TextInput label="Longest wait" placeholder="2h, or DSW 2h" value={wait} onChange={(e) => setWait(e.currentTarget.value)} />
        </div>
      </fieldset>
      {save.error === null ? null : (
        <div className="notice bad" role="alert">
          {isConflict(save.error) ? "Somebody else saved these rules meanwhile; load the page again to see theirs. " : ""}
          {sentence(save.error)}
        </div>
      )}
      {may ? (
        <div>
          <Button type="submit" disabled={modules.length === 0 || roles.length === 0} loading={save.isPending}>
            Save
          </Button>
        </div>
      ) : null}
    </form>
  );
}
