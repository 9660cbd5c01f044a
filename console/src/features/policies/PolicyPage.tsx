// The policies of a quota: refused while typing if they cannot be, and what they would do before they are saved.
import { Button, NativeSelect, Switch, TextInput } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { NotAllowed, can } from "../../api/rights";
import { quotasQuery } from "../../api/shared";
import type { Quota } from "../../api/types";
import { Conflict } from "../../components/Conflict";
import { ModuleChoice } from "../../components/ModuleChoice";
import { PreviewPanel } from "../../components/PreviewPanel";
import { Missing } from "../../components/StateBlock";
import { useDraft } from "../../components/useDraft";
import { NEW_SELF, bodyOf, draftOf, lines, problems, type Draft } from "./draft";
import { SelfLevelForm } from "./SelfLevelForm";

export function PolicyPage() {
  const { quota: id } = useParams({ from: "/inside/quotas/$quota/policy" });
  const quota = useSuspenseQuery(quotasQuery).data.find((one) => one.id === id);
  if (quota === undefined) return <div className="page"><Missing what="quota" id={id} all="/quotas" name="All quotas" /></div>;
  if (!can(quota, "update-quota")) throw new NotAllowed("update-quota", id);
  return <Editor key={id} quota={quota} />;
}

function began(quota: Quota, search: { child?: string; self?: string }): Draft {
  const draft = draftOf(quota);
  if (search.child !== undefined) draft.child.enabled = search.child === "on";
  if (search.self === "on" && draft.self.length === 0) draft.self = [NEW_SELF];
  else if (search.self !== undefined) draft.self = draft.self.map((one) => ({ ...one, enabled: search.self === "on" }));
  return draft;
}

function Editor({ quota }: { quota: Quota }) {
  const search = useSearch({ from: "/inside/quotas/$quota/policy" });
  const navigate = useNavigate();
  const edit = useDraft<Quota, Draft>({
    now: quota,
    version: (one) => one.version,
    read: draftOf,
    send: (from, next) => call("put", "/api/v1/quotas/{quota}/policies", { path: { quota: from.id }, body: bodyOf(next, from), version: from.version }),
    stale: [["quotas"], ["quota", quota.id]],
    done: () => void navigate({ to: "/quotas/$quota", params: { quota: quota.id } }),
    began: began(quota, search),
  });
  const { base, draft, set: setDraft } = edit;
  const wrong = problems(draft);
  const valid = Object.keys(wrong).length === 0;
  const body = useMemo(() => bodyOf(draft, base), [draft, base]);
  const changed = JSON.stringify(body) !== JSON.stringify(bodyOf(draftOf(base), base));
  const setSelf = (place: number, next: Draft["self"][number] | null) =>
    setDraft({ ...draft, self: draft.self.flatMap((one, at) => (at === place ? (next === null ? [] : [next]) : [one])) });
  return (
    <div className="page stack">
      <div className="head" style={{ marginBottom: 0 }}>
        <h1>Policy of {quota.id}</h1>
        <span className="dim">version {base.version}</span>
      </div>
      {edit.clash ? <Conflict base={lines(draftOf(base))} theirs={lines(draftOf(quota))} mine={lines(draft)} onTheirs={edit.takeTheirs} onMine={edit.goOn} /> : null}
      <div className="cards" style={{ maxWidth: 1160 }}>
        <form
          className="card stack"
          aria-label="Policy"
          onSubmit={(event) => {
            event.preventDefault();
            edit.save();
          }}
        >
          <Switch label="Child-level preemption" checked={draft.child.enabled} onChange={(e) => setDraft({ ...draft, child: { ...draft.child, enabled: e.currentTarget.checked } })} />
          <p className="dim small">Any job waiting here may take matching jobs of the quotas below.</p>
          <TextInput
            label="Priorities that may be taken below"
            value={draft.child.priorities}
            error={wrong["child"]}
            onChange={(e) => setDraft({ ...draft, child: { ...draft.child, priorities: e.currentTarget.value } })}
          />
          <ModuleChoice label="Modules" value={draft.child.modules} error={wrong["child.modules"]} onChange={(modules) => setDraft({ ...draft, child: { ...draft.child, modules } })} />
          <hr style={{ border: 0, borderTop: "1px solid var(--line)", width: "100%" }} />
          {draft.self.map((one, place) => (
            <SelfLevelForm key={place} value={one} place={place} wrong={wrong} onChange={(next) => setSelf(place, next)} />
          ))}
          <div>
            <Button variant="default" onClick={() => setDraft({ ...draft, self: [...draft.self, NEW_SELF] })}>
              Add a self-level policy
            </Button>
          </div>
          <NativeSelect
            label="Strategy of the queue"
            value={draft.strategy}
            data={["intelligent", "fifo", "traverse", "balance"]}
            onChange={(e) => setDraft({ ...draft, strategy: e.currentTarget.value })}
          />
          {edit.error === null ? null : <div className="notice bad" role="alert">{sentence(edit.error)}</div>}
          <div className="row">
            <Button type="submit" disabled={!valid || !changed} loading={edit.pending}>
              Save
            </Button>
            <Link to="/quotas/$quota" params={{ quota: quota.id }}>
              Cancel
            </Link>
            {valid ? changed ? null : <span className="dim small">nothing is changed yet</span> : <span className="dim small">off until fixed</span>}
          </div>
        </form>
        <PreviewPanel changes={valid && changed ? [{ change: "policies", quota: quota.id, to: body } as never] : null} title={valid ? "If saved now" : "If saved now (last valid)"} />
      </div>
    </div>
  );
}
