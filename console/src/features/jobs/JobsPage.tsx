// All jobs that one may see: filters in the address, any number of rows, and a file of them.
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import { workspacesQuery } from "../../api/shared";
import { MODULES, PHASES, type Job } from "../../api/types";
import { Go, jobPath } from "../../components/Go";
import { DataTable, type Column } from "../../components/DataTable";
import { QuotaChoice } from "../../components/QuotaChoice";
import { capital } from "../../components/ReasonList";
import { Answered, Empty } from "../../components/StateBlock";
import { Ago, Gpus, JobRef, ModuleMark, PhaseChip, PriorityChip, QuotaRef, Waits, When } from "../../components/chips";
import { csv, download } from "../../csv";
import { count } from "../../formats";
import type { JobSearch } from "./filters";
import { jobsQuery } from "./queries";
import { SavedViews } from "./SavedViews";

const COLUMNS: Column<Job>[] = [
  { key: "name", title: "Job", sort: "name", cell: (job) => <JobRef id={job.id} name={job.name || job.id} /> },
  { key: "phase", title: "Phase", sort: "phase", cell: (job) => <PhaseChip phase={job.phase} /> },
  { key: "module", title: "Module", sort: "module", from: "wide", cell: (job) => <ModuleMark module={job.module} /> },
  { key: "priority", title: "Priority", from: "medium", sort: "priority", cell: (job) => <PriorityChip priority={job.priority} /> },
  { key: "gpus", title: "Size", sort: "gpus", right: true, cell: (job) => <Gpus value={job.gpus} /> },
  { key: "quota", title: "Quota", sort: "quota", from: "wide", cell: (job) => <QuotaRef id={job.quota} /> },
  { key: "owner", title: "Owner", sort: "owner", from: "wide", cell: (job) => job.owner },
  { key: "since", title: "For", sort: "waiting_since", from: "wide", cell: (job) => <Since job={job} /> },
  { key: "why", title: "Why", rest: true, cell: (job) => <Why job={job} /> },
  { key: "submitted", title: "Submitted", sort: "submitted", from: "wide", cell: (job) => <When at={job.submitted_ms} /> },
];

const idOf = (job: Job) => job.id;

function Since({ job }: { job: Job }) {
  if (job.ended_ms !== null) return <span className="dim">–</span>;
  if (job.waiting_since_ms !== null) return <Waits job={job} />;
  return job.phase === "Running" && job.started_ms !== null ? <Ago from={job.started_ms} /> : <span className="dim">–</span>;
}

function Why({ job }: { job: Job }) {
  if (job.reason === null) return <span className="dim">{job.ending ?? ""}</span>;
  return (
    <Go to={jobPath(job.id)} title={job.reason.text} className="dim">
      {capital(job.reason.text)}
    </Go>
  );
}

export function JobsPage() {
  const search = useSearch({ from: "/inside/jobs" });
  const navigate = useNavigate();
  const jobs = useInfiniteQuery(jobsQuery(search));
  const rows = useMemo(() => jobs.data?.pages.flatMap((page) => page.items) ?? [], [jobs.data]);
  const total = (jobs.data?.pages[0] as { total?: number | null } | undefined)?.total ?? rows.length;
  const set = (part: Partial<JobSearch>) =>
    void navigate({ to: "/jobs", search: Object.fromEntries(Object.entries({ ...search, ...part }).filter(([, value]) => value)) as JobSearch, replace: true });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = jobs;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const keep = () =>
    download(
      "jobs.csv",
      csv(
        ["id", "name", "phase", "module", "priority", "gpus", "quota", "workspace", "owner", "submitted", "reason"],
        rows.map((job) => [job.id, job.name, job.phase, job.module, job.priority, job.gpus, job.quota, job.workspace, job.owner, new Date(job.submitted_ms).toISOString(), job.reason?.text]),
      ),
    );
  return (
    <div className="page fixed">
      <div className="head">
        <h1>Jobs</h1>
        <span className="dim">{jobs.data === undefined ? "" : count(total, "job")}</span>
        <div className="actions">
          <Button variant="default" onClick={keep} disabled={rows.length === 0}>
            CSV
          </Button>
          <Button component={Link} to="/jobs/new">
            Submit a job
          </Button>
        </div>
      </div>
      <Filters search={search} set={set} />
      <Answered query={jobs}>
        {() =>
          rows.length === 0 ? (
            <Empty title="No job is like this">
              {Object.keys(search).length === 0 ? <Link to="/jobs/new">Submit the first one</Link> : <Link to="/jobs">Show all jobs</Link>}
            </Empty>
          ) : (
            <DataTable label="Jobs" columns={COLUMNS} rows={rows} rowId={idOf} sort={search.sort ?? "-submitted"} onSort={(sort) => set({ sort })} onEnd={more} />
          )
        }
      </Answered>
    </div>
  );
}

function Filters({ search, set }: { search: JobSearch; set: (part: Partial<JobSearch>) => void }) {
  const workspaces = useQuery(workspacesQuery).data ?? [];
  const [part, setPart] = useState(search.part ?? "");
  useEffect(() => {
    if (part === (search.part ?? "")) return undefined;
    const timer = setTimeout(() => set({ part }), 300);
    return () => clearTimeout(timer);
  });
  const all = (name: string, values: readonly string[]) => [{ value: "", label: name }, ...values.map((value) => ({ value, label: value }))];
  return (
    <div className="filters" role="search" aria-label="Filter jobs">
      <TextInput aria-label="Part of the name" placeholder="Part of the name" value={part} onChange={(e) => setPart(e.currentTarget.value)} style={{ width: 170 }} />
      <NativeSelect aria-label="Phase" value={search.phase ?? ""} data={[{ value: "", label: "any phase" }, { value: "active", label: "active" }, ...PHASES.map((value) => ({ value, label: value }))]} onChange={(e) => set({ phase: e.currentTarget.value })} />
      <NativeSelect aria-label="Module" value={search.module ?? ""} data={all("any module", MODULES)} onChange={(e) => set({ module: e.currentTarget.value })} />
      <NativeSelect aria-label="Priority" value={search.priority ?? ""} data={all("any priority", ["7-9", "4-6", "1-3", "9", "8", "7", "6", "5", "4", "3", "2", "1"])} onChange={(e) => set({ priority: e.currentTarget.value })} />
      <QuotaChoice value={search.quota ?? ""} onChange={(quota) => set({ quota })} />
      <NativeSelect aria-label="Workspace" value={search.workspace ?? ""} data={all("any workspace", workspaces.map((one) => one.id))} onChange={(e) => set({ workspace: e.currentTarget.value })} />
      <SavedViews search={search} />
    </div>
  );
}
