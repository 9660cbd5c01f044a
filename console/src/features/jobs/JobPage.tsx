// One job: what it is, what can be done with it, and under its tabs why, where, what it printed, what happened.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { jobQuery } from "../../api/shared";
import type { Job } from "../../api/types";
import { Answered, Missing, isMissing } from "../../components/StateBlock";
import { Ago, Gpus, ModuleMark, PhaseChip, PriorityChip, QuotaRef, Waits } from "../../components/chips";
import { ordinal } from "../../formats";
import { JobActions } from "./JobActions";

const TABS = [
  ["/jobs/$job", "Why"],
  ["/jobs/$job/runs", "Runs"],
  ["/jobs/$job/logs", "Logs"],
  ["/jobs/$job/history", "History"],
] as const;

export function JobPage() {
  const { job: id } = useParams({ from: "/inside/jobs/$job" });
  const job = useQuery(jobQuery(id));
  if (job.data === undefined && isMissing(job.error)) return <div className="page"><Missing what="job" id={id} all="/jobs" name="All jobs" /></div>;
  return (
    <div className="page">
      <Answered query={job}>
        {(found) => (
          <>
            <div className="head">
              <h1>{found.name || found.id}</h1>
              <PhaseChip phase={found.phase} />
              <ModuleMark module={found.module} />
              <PriorityChip priority={found.priority} />
              <span>
                <Gpus value={found.gpus} />
              </span>
              <span className="dim" data-testid="standing">
                <Standing job={found} /> <QuotaRef id={found.quota} />
              </span>
              <div className="actions">
                <JobActions job={found} />
              </div>
            </div>
            <nav className="tabs" aria-label="Parts of the job">
              {TABS.map(([to, name]) => (
                <Link key={to} to={to} params={{ job: id }} activeOptions={{ exact: true }}>
                  {name}
                </Link>
              ))}
            </nav>
            <Outlet />
          </>
        )}
      </Answered>
    </div>
  );
}

function Standing({ job }: { job: Job }) {
  if (job.phase === "Waiting" || job.phase === "Held")
    return (
      <>
        waits <Waits job={job} />
        {job.position === null ? "" : `, ${ordinal(job.position)}`} in
      </>
    );
  if (job.phase === "Running" && job.started_ms !== null)
    return (
      <>
        runs <Ago from={job.started_ms} />
        {job.claim === "idle" ? ", idle," : ""} in
      </>
    );
  return <>in</>;
}
