// Who waits here, at which place and why; who runs here, and since when.
import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import type { Job } from "../../api/types";
import { Go, jobPath } from "../../components/Go";
import { DataTable, type Column } from "../../components/DataTable";
import { capital } from "../../components/ReasonList";
import { Answered, Empty } from "../../components/StateBlock";
import { Ago, Gpus, JobRef, ModuleMark, PriorityChip, Waits } from "../../components/chips";
import { count } from "../../formats";
import { useQuota } from "./useQuota";

const COMMON: Column<Job>[] = [
  { key: "name", title: "Job", cell: (job) => <JobRef id={job.id} name={job.name || job.id} /> },
  { key: "module", title: "Module", from: "wide", cell: (job) => <ModuleMark module={job.module} /> },
  { key: "priority", title: "Priority", cell: (job) => <PriorityChip priority={job.priority} /> },
  { key: "gpus", title: "Size", right: true, cell: (job) => <Gpus value={job.gpus} /> },
];
const WAITING: Column<Job>[] = [
  { key: "place", title: "Place", from: "medium", right: true, cell: (job) => job.position ?? "–" },
  ...COMMON,
  { key: "waits", title: "Waits", from: "medium", cell: (job) => <Waits job={job} /> },
  { key: "why", title: "Why", rest: true, cell: (job) => <Why job={job} /> },
];
const RUNNING: Column<Job>[] = [
  ...COMMON,
  { key: "claim", title: "Claim", from: "medium", cell: (job) => <span className={job.claim === "idle" ? "chip warn" : "dim"}>{job.claim}</span> },
  { key: "runs", title: "Runs", from: "medium", cell: (job) => (job.started_ms === null ? "–" : <Ago from={job.started_ms} />) },
  { key: "owner", title: "Owner", from: "wide", cell: (job) => job.owner },
];

/** By how many rules each running job could be taken, asked once for the first hundred rows. */
function useExposures(jobs: readonly Job[]): ReadonlyMap<string, number> {
  const ids = jobs.slice(0, 100).map((job) => job.id).sort();
  const asked = useQuery({
    queryKey: ["jobs", "exposures", ids],
    queryFn: ({ signal }) => call("get", "/api/v1/exposures", { query: { job: ids }, signal }),
    enabled: ids.length > 0,
  });
  return useMemo(() => new Map((asked.data?.items ?? []).map((one) => [one.job, one.items.length])), [asked.data]);
}

function RunningTable({ jobs }: { jobs: readonly Job[] }) {
  const exposures = useExposures(jobs);
  const columns = useMemo<Column<Job>[]>(
    () => [
      ...RUNNING,
      {
        key: "exposure",
        title: "Could be taken",
        cell: (job) => {
          const rules = exposures.get(job.id);
          if (rules === 0) return <span className="dim">by nobody</span>;
          return <Go to={jobPath(job.id)}>{rules === undefined ? "by whom?" : `by ${count(rules, "rule")}`}</Go>;
        },
      },
    ],
    [exposures],
  );
  return <DataTable label="Running jobs" columns={columns} rows={jobs} rowId={(job) => job.id} />;
}

function Why({ job }: { job: Job }) {
  return (
    <Go to={jobPath(job.id)} title={job.reason?.text}>
      {job.reason === null ? job.reason_code : capital(job.reason.text)}
    </Go>
  );
}

export function JobsTab() {
  const quota = useQuota();
  const { below } = useSearch({ from: "/inside/quotas/$quota/jobs" });
  const navigate = useNavigate();
  const filter = { quota: [quota.id], phase: ["Waiting", "Held", "Running"], positions: true, limit: 500, ...(below ? { below: true } : {}) };
  const jobs = useQuery({
    queryKey: keys.jobs(filter),
    queryFn: ({ signal }) => call("get", "/api/v1/jobs", { query: filter as never, signal }),
  });
  return (
    <div className="stack">
      <Switch
        label="With the quotas below"
        checked={below ?? false}
        onChange={(e) => void navigate({ to: "/quotas/$quota/jobs", params: { quota: quota.id }, search: e.currentTarget.checked ? { below: true } : {} })}
      />
      <Answered query={jobs}>
        {(page) => {
          const waiting = page.items.filter((job) => job.phase !== "Running").sort((a, b) => (a.position ?? 1e9) - (b.position ?? 1e9));
          const running = page.items.filter((job) => job.phase === "Running");
          if (page.items.length === 0) return <Empty title="No job of yours waits or runs here">Jobs of other teams are in the figures, not in this list.</Empty>;
          return (
            <>
              <h2>{count(waiting.length, "job waits", "jobs wait")}</h2>
              {waiting.length === 0 ? null : <DataTable label="Waiting jobs" columns={WAITING} rows={waiting} rowId={(job) => job.id} />}
              <h2>{count(running.length, "job runs", "jobs run")}</h2>
              {running.length === 0 ? null : <RunningTable jobs={running} />}
            </>
          );
        }}
      </Answered>
    </div>
  );
}
