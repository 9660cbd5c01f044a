// What may be done with a job: only what the server allows the reader, and only what makes sense now.
import { Button, Modal, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import { useChange } from "../../api/shared";
import type { Job } from "../../api/types";
import { PreviewPanel } from "../../components/PreviewPanel";
import { changedFigures } from "./figures";

type Verb = "cancel" | "hold" | "release" | "stop" | "start" | "restart" | "checkpoint";
type Action = { verb: Verb; title: string; right: string; when: (job: Job) => boolean; asks: boolean };

const over = (job: Job) => ["Succeeded", "Failed", "Cancelled"].includes(job.phase);
const ACTIONS: Action[] = [
  { verb: "release", title: "Release", right: "hold-job", when: (job) => job.reason_code === "HeldByOwner", asks: false },
  { verb: "hold", title: "Hold", right: "hold-job", when: (job) => job.phase === "Waiting" && job.reason_code !== "HeldByOwner", asks: false },
  { verb: "start", title: "Start", right: "stop-job", when: (job) => job.phase === "Stopped", asks: false },
  { verb: "checkpoint", title: "Checkpoint now", right: "checkpoint-job", when: (job) => job.phase === "Running" && job.module === "DLC", asks: false },
  { verb: "stop", title: "Stop", right: "stop-job", when: (job) => job.phase === "Running" && job.module === "DSW", asks: true },
  { verb: "restart", title: "Restart", right: "restart-job", when: (job) => job.phase === "Running", asks: true },
  { verb: "cancel", title: "Cancel", right: "cancel-job", when: (job) => !over(job), asks: true },
];
const PATHS = {
  cancel: "/api/v1/jobs/{job}/cancel",
  hold: "/api/v1/jobs/{job}/hold",
  release: "/api/v1/jobs/{job}/release",
  stop: "/api/v1/jobs/{job}/stop",
  start: "/api/v1/jobs/{job}/start",
  restart: "/api/v1/jobs/{job}/restart",
  checkpoint: "/api/v1/jobs/{job}/checkpoint",
} as const;

export function JobActions({ job }: { job: Job }) {
  const [asking, setAsking] = useState<Action | "priority" | "replicas" | null>(null);
  const close = () => setAsking(null);
  const stale = [["job", job.id], ["jobs"], ["quotas"]];
  const act = useChange((verb: Verb) => call("post", PATHS[verb], { path: { job: job.id } }), stale, close);
  const shown = ACTIONS.filter((one) => can(job, one.right) && one.when(job));
  return (
    <>
      {job.phase === "Waiting" && can(job, "set-priority") ? (
        <Button variant="default" onClick={() => setAsking("priority")}>
          Priority
        </Button>
      ) : null}
      {!over(job) && can(job, "resize-job") && (job.module === "EAS" || job.replicas > 1) ? (
        <Button variant="default" onClick={() => setAsking("replicas")}>
          Replicas
        </Button>
      ) : null}
      {shown.map((one) => (
        <Button
          key={one.verb}
          variant="default"
          {...(one.verb === "cancel" ? { c: "var(--bad)" } : {})}
          loading={act.isPending && act.variables === one.verb}
          onClick={() => (one.asks ? setAsking(one) : act.mutate(one.verb))}
        >
          {one.title}
        </Button>
      ))}
      {act.error === null ? null : <span className="notice bad" role="alert">{sentence(act.error)}</span>}
      <Modal opened={asking !== null} onClose={close} title={<Title asking={asking} job={job} />} closeButtonProps={{ "aria-label": "Close" }}>
        {asking === "priority" ? <Priority job={job} done={close} /> : null}
        {asking === "replicas" ? <Replicas job={job} done={close} /> : null}
        {asking !== null && typeof asking === "object" ? (
          <div className="stack">
            {asking.verb === "cancel" ? <PreviewPanel title="If cancelled now" changes={[{ change: "cancel", job: job.id } as never]} /> : <p>It leaves with its grace, and its GPUs become free.</p>}
            <div className="row">
              <Button color="red" autoContrast={false} loading={act.isPending} onClick={() => act.mutate(asking.verb)}>
                {asking.title} {job.name || job.id}
              </Button>
              <Button variant="default" onClick={close}>
                Leave it
              </Button>
            </div>
          </div>
        ) : null}
      </Modal>
    </>
  );
}

function Title({ asking, job }: { asking: Action | "priority" | "replicas" | null; job: Job }) {
  const verb = asking === null ? "" : typeof asking === "string" ? `Change the ${asking} of` : asking.title;
  return (
    <span className="strong">
      {verb} {job.name || job.id}
    </span>
  );
}

function Priority({ job, done }: { job: Job; done: () => void }) {
  const [priority, setPriority] = useState(String(job.priority));
  const save = useChange(() => call("put", "/api/v1/jobs/{job}/priority", { path: { job: job.id }, body: { priority: Number(priority) } }), [["job", job.id], ["jobs"]], done);
  const changed = Number(priority) !== job.priority;
  return (
    <div className="stack">
      <NativeSelect label="Priority" value={priority} data={["9", "8", "7", "6", "5", "4", "3", "2", "1"]} onChange={(e) => setPriority(e.currentTarget.value)} />
      {changed ? <PreviewPanel title="If changed now" changes={[{ change: "priority", job: job.id, priority: Number(priority) } as never]} /> : null}
      {save.error === null ? null : <div className="notice bad" role="alert">{sentence(save.error)}</div>}
      <div>
        <Button disabled={!changed} loading={save.isPending} onClick={() => save.mutate(undefined)}>
          Change
        </Button>
      </div>
    </div>
  );
}

function Replicas({ job, done }: { job: Job; done: () => void }) {
  const [least, setLeast] = useState(String(job.core_replicas));
  const [wanted, setWanted] = useState(String(job.replicas));
  const [most, setMost] = useState(String(job.most_replicas));
  const body = changedFigures(job, { least, wanted, most });
  const changed = Object.keys(body).length > 0;
  const save = useChange(() => call("put", "/api/v1/jobs/{job}/replicas", { path: { job: job.id }, body }), [["job", job.id], ["jobs"]], done);
  return (
    <div className="stack">
      <TextInput label="At least" inputMode="numeric" value={least} onChange={(e) => setLeast(e.currentTarget.value)} />
      <TextInput label="Wanted" inputMode="numeric" value={wanted} onChange={(e) => setWanted(e.currentTarget.value)} />
      <TextInput label="At most" inputMode="numeric" value={most} onChange={(e) => setMost(e.currentTarget.value)} />
      {changed ? <PreviewPanel title="If changed now" changes={[{ change: "resize", job: job.id, ...body } as never]} /> : null}
      {save.error === null ? null : <div className="notice bad" role="alert">{sentence(save.error)}</div>}
      <div>
        <Button disabled={!changed} loading={save.isPending} onClick={() => save.mutate(undefined)}>
          Change
        </Button>
      </div>
    </div>
  );
}
