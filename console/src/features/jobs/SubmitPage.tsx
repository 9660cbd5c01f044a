// A new job, and while it is written what would become of it.
import { Button, NativeSelect, TextInput, Textarea } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { useChange, workspacesQuery } from "../../api/shared";
import { MODULES, type JobIn } from "../../api/types";
import { PreviewPanel } from "../../components/PreviewPanel";
import { Answered, Empty } from "../../components/StateBlock";
import { can } from "../../api/rights";
import { EstimateLine } from "./EstimateLine";
import { NEW_JOB, bodyOf, problems, type JobDraft } from "./draft";

export function SubmitPage() {
  const workspaces = useQuery(workspacesQuery);
  return (
    <div className="page">
      <div className="head">
        <h1>Submit a job</h1>
      </div>
      <Answered query={workspaces}>
        {(all) => {
          const mine = all.filter((one) => can(one, "submit-job") && one.quotas.length > 0);
          return mine.length === 0 ? (
            <Empty title="You may not submit anywhere">You need a workspace in which you are a developer or more, bound to a quota.</Empty>
          ) : (
            <SubmitForm workspaces={mine} />
          );
        }}
      </Answered>
    </div>
  );
}

/** Asked for by hand: the server plays the queue forward, which takes it seconds. */
function WhenStarts({ body }: { body: JobIn }) {
  const ask = useMutation({ mutationFn: () => call("post", "/api/v1/previews", { query: { estimate: true }, body: { changes: [{ change: "submit", job: body } as never] } }) });
  const told = ask.data?.estimate;
  return (
    <section className="card stack tight" aria-label="When it would start">
      {ask.data === undefined ? (
        <div>
          <Button variant="default" loading={ask.isPending} onClick={() => ask.mutate()}>
            When would it start?
          </Button>
        </div>
      ) : told ? (
        <EstimateLine told={told} />
      ) : (
        <span className="strong">It would start now</span>
      )}
      {ask.error === null ? null : <div className="notice bad" role="alert">{sentence(ask.error)}</div>}
    </section>
  );
}

function SubmitForm({ workspaces }: { workspaces: { id: string; quotas: string[] }[] }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState<JobDraft>({ ...NEW_JOB, workspace: workspaces[0]?.id ?? "", quota: workspaces[0]?.quotas[0] ?? "" });
  const set = (part: Partial<JobDraft>) => setDraft({ ...draft, ...part });
  const wrong = problems(draft);
  const valid = Object.keys(wrong).length === 0;
  const body = valid ? (bodyOf(draft) as JobIn) : null;
  const submit = useChange(
    async () => {
      if (body === null) return;
      const made = await call("post", "/api/v1/jobs", { body });
      await navigate({ to: "/jobs/$job", params: { job: made.id } });
    },
    [["jobs"], ["quotas"]],
  );
  const quotas = workspaces.find((one) => one.id === draft.workspace)?.quotas ?? [];
  return (
    <div className="cards">
      <form
        className="card stack"
        aria-label="New job"
        onSubmit={(event) => {
          event.preventDefault();
          submit.mutate(undefined);
        }}
      >
        <div className="pair">
          <NativeSelect
            label="Workspace"
            value={draft.workspace}
            data={workspaces.map((one) => one.id)}
            onChange={(e) => set({ workspace: e.currentTarget.value, quota: workspaces.find((one) => one.id === e.currentTarget.value)?.quotas[0] ?? "" })}
          />
          <NativeSelect label="Quota" value={draft.quota} data={quotas} onChange={(e) => set({ quota: e.currentTarget.value })} />
        </div>
        <div className="pair">
          <TextInput label="Name" value={draft.name} onChange={(e) => set({ name: e.currentTarget.value })} error={wrong["name"]} />
          <NativeSelect label="Module" value={draft.module} data={MODULES.map((one) => ({ value: one, label: one === "DLC" ? "DLC training" : one === "DSW" ? "DSW notebook" : "EAS service" }))} onChange={(e) => set({ module: e.currentTarget.value })} />
        </div>
        <div className="pair">
          <TextInput label="Replicas" inputMode="numeric" value={draft.replicas} onChange={(e) => set({ replicas: e.currentTarget.value })} error={wrong["replicas"]} />
          <TextInput label="GPUs of each" inputMode="decimal" value={draft.gpus} onChange={(e) => set({ gpus: e.currentTarget.value })} error={wrong["gpus"]} />
        </div>
        <div className="pair">
          <NativeSelect label="Priority" value={draft.priority} data={["9", "8", "7", "6", "5", "4", "3", "2", "1"]} onChange={(e) => set({ priority: e.currentTarget.value })} />
          <NativeSelect label="On idle capacity" value={draft.idle} data={[{ value: "never", label: "never" }, { value: "allow", label: "allow" }, { value: "only", label: "only" }]} onChange={(e) => set({ idle: e.currentTarget.value })} />
        </div>
        <TextInput label="At least so many replicas" description="started together or not at all; empty: all, of a service 1" inputMode="numeric" value={draft.minReplicas} onChange={(e) => set({ minReplicas: e.currentTarget.value })} error={wrong["minReplicas"]} />
        <Textarea label="Command" description="one argument a line; or the program as JSON" autosize={false} rows={4} value={draft.program} onChange={(e) => set({ program: e.currentTarget.value })} error={wrong["program"]} className="mono" />
        {submit.error === null ? null : <div className="notice bad" role="alert">{sentence(submit.error)}</div>}
        <div className="row">
          <Button type="submit" disabled={!valid} loading={submit.isPending}>
            Submit
          </Button>
          <Link to="/jobs">Cancel</Link>
        </div>
      </form>
      <div className="stack">
        <PreviewPanel title={valid ? "If submitted now" : "If submitted now (last valid)"} changes={body === null ? null : [{ change: "submit", job: body } as never]} />
        {body === null ? null : <WhenStarts key={JSON.stringify(body)} body={body} />}
      </div>
    </div>
  );
}
