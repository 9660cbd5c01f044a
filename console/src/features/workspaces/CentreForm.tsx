// The scheduling centre of a workspace in one quota (W3): modules, roles, amounts, ceilings, longest run and wait.
import { Button, Checkbox, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import type { Centre, Workspace } from "../../api/types";
import { Conflict } from "../../components/Conflict";
import { ModuleChoice } from "../../components/ModuleChoice";
import { Answered } from "../../components/StateBlock";
import { useDraft } from "../../components/useDraft";
import { NEW_AMOUNT, NEW_CEILING, SUBMITTING, bodyOf, draftOf, lines, type CentreDraft } from "./centre";

export function CentreForm({ workspace, quota }: { workspace: Workspace; quota: string }) {
  const path = { workspace: workspace.id, quota };
  const centre = useQuery({
    queryKey: keys.workspace(workspace.id, "centre", quota),
    queryFn: ({ signal }) => call("get", "/api/v1/workspaces/{workspace}/quotas/{quota}/centre", { path, signal }),
  });
  return (
    <section className="card stack" aria-label={`Scheduling centre in ${quota}`}>
      <Answered query={centre}>{(found) => <Form centre={found} may={can(workspace, "set-centre")} />}</Answered>
    </section>
  );
}

function Form({ centre, may }: { centre: Centre; may: boolean }) {
  const edit = useDraft<Centre, CentreDraft>({
    now: centre,
    version: (one) => one.version,
    read: draftOf,
    send: (base, draft) =>
      call("put", "/api/v1/workspaces/{workspace}/quotas/{quota}/centre", { path: { workspace: base.workspace, quota: base.quota }, body: bodyOf(draft), version: base.version }),
    stale: [["workspace", centre.workspace]],
  });
  const { base, draft } = edit;
  const { modules, roles, amounts, ceilings } = draft;
  const set = (part: Partial<CentreDraft>) => edit.set({ ...draft, ...part });
  const replaced = <T,>(list: T[], place: number, part: Partial<T>) => list.map((one, at) => (at === place ? { ...one, ...part } : one));
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        edit.save();
      }}
    >
      <div className="row apart">
        <h2>{centre.quota}</h2>
        <span className="dim small">{base.version === 0 ? "never set: everything is allowed" : `version ${base.version}`}</span>
      </div>
      <fieldset className="plainset stack" disabled={!may}>
        <legend className="visually-hidden">Rules in {centre.quota}</legend>
        <ModuleChoice label="Modules" value={modules} onChange={(next) => set({ modules: next })} error={modules.length === 0 ? "choose at least one module" : undefined} />
        <fieldset className="plainset">
          <legend>Roles that may submit</legend>
          <div className="row">
            {SUBMITTING.map((role) => (
              <Checkbox key={role} label={role} checked={roles.includes(role)} onChange={(e) => set({ roles: SUBMITTING.filter((one) => (one === role ? e.currentTarget.checked : roles.includes(one))) })} />
            ))}
          </div>
        </fieldset>
        {amounts.map((one, place) => (
          <div className="row" key={place} style={{ alignItems: "flex-end" }}>
            <TextInput label="Amount: role:… or user:…" value={one.who} onChange={(e) => set({ amounts: replaced(amounts, place, { who: e.currentTarget.value }) })} />
            <TextInput label="Priorities" value={one.priorities} onChange={(e) => set({ amounts: replaced(amounts, place, { priorities: e.currentTarget.value }) })} style={{ width: 90 }} />
            <TextInput label="GPUs at most" value={one.gpus} inputMode="decimal" onChange={(e) => set({ amounts: replaced(amounts, place, { gpus: e.currentTarget.value }) })} style={{ width: 110 }} />
            {may ? <button type="button" className="linkish small" onClick={() => set({ amounts: amounts.filter((_, at) => at !== place) })}>Remove</button> : null}
          </div>
        ))}
        {ceilings.map((one, place) => (
          <div className="row" key={place} style={{ alignItems: "flex-end" }}>
            <TextInput label="Ceiling: role:… or user:…" value={one.who} onChange={(e) => set({ ceilings: replaced(ceilings, place, { who: e.currentTarget.value }) })} />
            <TextInput label="Priority at most" value={one.priority} onChange={(e) => set({ ceilings: replaced(ceilings, place, { priority: e.currentTarget.value }) })} style={{ width: 120 }} />
            {may ? <button type="button" className="linkish small" onClick={() => set({ ceilings: ceilings.filter((_, at) => at !== place) })}>Remove</button> : null}
          </div>
        ))}
        {may ? (
          <div className="row">
            <Button variant="default" onClick={() => set({ amounts: [...amounts, NEW_AMOUNT] })}>
              Add an amount
            </Button>
            <Button variant="default" onClick={() => set({ ceilings: [...ceilings, NEW_CEILING] })}>
              Add a ceiling
            </Button>
          </div>
        ) : null}
        <div className="pair">
          <TextInput label="Longest run" placeholder="24h, or DLC 24h, DSW 8h" value={draft.run} onChange={(e) => set({ run: e.currentTarget.value })} />
          <TextInput label="Longest wait" placeholder="2h, or DSW 2h" value={draft.wait} onChange={(e) => set({ wait: e.currentTarget.value })} />
        </div>
      </fieldset>
      {edit.clash ? <Conflict base={lines(draftOf(base))} theirs={lines(draftOf(centre))} mine={lines(draft)} onTheirs={edit.takeTheirs} onMine={edit.goOn} /> : null}
      {edit.error === null ? null : <div className="notice bad" role="alert">{sentence(edit.error)}</div>}
      {may ? (
        <div>
          <Button type="submit" disabled={modules.length === 0 || roles.length === 0} loading={edit.pending}>
            Save
          </Button>
        </div>
      ) : null}
    </form>
  );
}
