// The whole at a glance: what is allocated, who waits, what was taken, what needs attention.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { quotasQuery, useWhoami } from "../../api/shared";
import type { Job, Ledger, Quota } from "../../api/types";
import { BarLegend, QuotaBar } from "../../components/QuotaBar";
import { figuresOf, scaleOf } from "../../components/bar";
import { capital, stepName } from "../../components/ReasonList";
import { Answered } from "../../components/StateBlock";
import { Ago, Gpus, JobRef, ModuleMark, PriorityChip, QuotaRef, Waits, When } from "../../components/chips";
import { count, number } from "../../formats";
import { lossWords } from "../../losses";

export function OverviewPage() {
  return (
    <div className="page">
      <div className="head">
        <h1>Overview</h1>
      </div>
      <div className="stack">
        <Allocation />
        <div className="cards">
          <MyWaiting />
          <Attention />
          <Taken />
        </div>
      </div>
    </div>
  );
}

function Allocation() {
  const quotas = useQuery(quotasQuery);
  const summary = useQuery({ queryKey: keys.summary, queryFn: ({ signal }) => call("get", "/api/v1/summary", { signal }) });
  return (
    <section className="card stack" aria-label="Allocation">
      <Answered query={quotas} rows={4}>
        {(all) => {
          const ids = new Set(all.map((one) => one.id));
          const tops = all.filter((one) => one.parent === null || !ids.has(one.parent));
          const shown = tops.flatMap((top) => [top, ...all.filter((one) => one.parent === top.id)]);
          const scale = scaleOf(shown.map((one) => figuresOf(one.usage, one.reserved)));
          return (
            <div className="stack tight">
              {shown.slice(0, 24).map((one) => (
                <AllocationRow key={one.id} quota={one} top={tops.includes(one)} scale={scale} />
              ))}
              {shown.length > 24 ? <Link to="/quotas">all {all.length} quotas</Link> : null}
              <BarLegend />
            </div>
          );
        }}
      </Answered>
      {summary.data === undefined ? null : (
        <dl className="figures">
          {summary.data.modules.map((one) => (
            <div key={one.module}>
              <dt>
                <ModuleMark module={one.module} />
              </dt>
              <dd>
                {number(one.gpus + one.idle_gpus)} <span className="unit">GPU in {count(one.running_jobs, "job")}</span>
              </dd>
              <dd className="note">{one.waiting_jobs === 0 ? "nobody waits" : `${count(one.waiting_jobs, "waits", "wait")} for ${number(one.waiting_gpus)} GPU`}</dd>
            </div>
          ))}
          {summary.data.cluster === null ? null : (
            <div>
              <dt>Cluster</dt>
              <dd>
                {number(summary.data.cluster.gpus - summary.data.cluster.free_gpus)} <span className="unit">of {number(summary.data.cluster.gpus)} taken</span>
              </dd>
              <dd className="note">
                <Link to="/cluster">{count(summary.data.cluster.nodes, "node")}</Link>
              </dd>
            </div>
          )}
        </dl>
      )}
    </section>
  );
}

function AllocationRow({ quota, top, scale }: { quota: Quota; top: boolean; scale: number }) {
  const figures = figuresOf(quota.usage, quota.reserved);
  return (
    <div className="alloc">
      <span className={top ? "strong cut" : "cut"} style={{ paddingLeft: top ? 0 : 16 }}>
        <QuotaRef id={quota.id} />
      </span>
      <QuotaBar figures={figures} scale={scale} tall={top} />
      <span className="right nowrap">
        {number(figures.usedOwn + figures.usedBelow)}/{number(figures.min)} <span className="dim">GPU</span>
      </span>
    </div>
  );
}

function MyWaiting() {
  const me = useWhoami();
  const everybody = me.user.platform_admin;
  const filter = { phase: ["Waiting", "Held"], positions: true, sort: "waiting_since", limit: 8, ...(everybody ? {} : { owner: [me.user.name] }) };
  const jobs = useQuery({ queryKey: keys.jobs(filter), queryFn: ({ signal }) => call("get", "/api/v1/jobs", { query: filter as never, signal }) });
  return (
    <section className="card stack tight" aria-label="Waiting jobs">
      <div className="row apart">
        <h2>{everybody ? "Waiting longest" : "My waiting jobs"}</h2>
        <Link to="/jobs" search={{ phase: "Waiting" }} className="small">
          all
        </Link>
      </div>
      <Answered query={jobs} rows={3}>
        {(page) =>
          page.items.length === 0 ? (
            <p className="dim">
              Nothing waits. <Link to="/jobs/new">Submit a job</Link>
            </p>
          ) : (
            <ul className="lines">
              {page.items.map((job) => (
                <WaitingLine key={job.id} job={job} />
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  );
}

function WaitingLine({ job }: { job: Job }) {
  return (
    <li>
      <div className="row apart">
        <span className="row">
          <JobRef id={job.id} name={job.name || job.id} /> <PriorityChip priority={job.priority} /> <span><Gpus value={job.gpus} /></span>
        </span>
        <span className="dim small">
          <Waits job={job} />
        </span>
      </div>
      <div className="dim small cut" title={job.reason?.text}>
        {job.reason === null ? job.phase : capital(job.reason.text)}
      </div>
    </li>
  );
}

function Attention() {
  const summary = useQuery({ queryKey: keys.summary, queryFn: ({ signal }) => call("get", "/api/v1/summary", { signal }) });
  return (
    <section className="card stack tight" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <Answered query={summary} rows={3}>
        {(told) =>
          told.attention.length === 0 ? (
            <p className="dim">Nothing. Every guarantee can be used and every node is there.</p>
          ) : (
            <ul className="lines">
              {told.attention.slice(0, 8).map((one, place) => (
                <li key={place}>
                  <div className="row">
                    <span className={one.kind === "waiting" ? "chip" : "chip bad"}>{one.kind.replace("-", " ")}</span>
                    {one.quota !== null && one.job === null ? <QuotaRef id={one.quota} /> : null}
                    {one.job !== null ? <JobRef id={one.job} name={one.name ?? undefined} /> : null}
                    {one.node !== null ? <Link to="/cluster">{one.node}</Link> : null}
                    {one.since_ms === null ? null : <span className="dim small"><Ago from={one.since_ms} /></span>}
                  </div>
                  <div className="dim small cut" title={one.text}>{one.text}</div>
                </li>
              ))}
              {told.more > 0 ? <li className="dim small">and {told.more} more</li> : null}
            </ul>
          )
        }
      </Answered>
    </section>
  );
}

function Taken() {
  const me = useWhoami();
  const filter = { limit: 6 };
  const ledger = useQuery({ queryKey: keys.preemptions(filter), queryFn: ({ signal }) => call("get", "/api/v1/preemptions", { query: filter, signal }) });
  return (
    <section className="card stack tight" aria-label="Recent preemptions">
      <div className="row apart">
        <h2>{me.user.platform_admin ? "Recent preemptions" : "Taken from us, or by us"}</h2>
        <Link to="/preemptions" className="small">
          all
        </Link>
      </div>
      <Answered query={ledger} rows={3}>
        {(page) => (page.items.length === 0 ? <p className="dim">Nobody was evicted.</p> : <ul className="lines">{page.items.map((one) => <TakenLine key={one.seq} ledger={one} />)}</ul>)}
      </Answered>
    </section>
  );
}

function TakenLine({ ledger }: { ledger: Ledger }) {
  const { preemption } = ledger;
  return (
    <li>
      <div className="row apart">
        <span>
          <Link to="/preemptions/$seq" params={{ seq: String(ledger.seq) }}>
            #{ledger.seq}
          </Link>{" "}
          {preemption.preemptor === null ? null : <JobRef id={preemption.preemptor} name={ledger.names[preemption.preemptor]} />}{" "}
          <span className="dim">{preemption.preemptor === null ? `${count(preemption.victims.length, "job")} ended` : `took ${count(preemption.victims.length, "job")}`}</span>
        </span>
        <span className="dim small">
          <When at={ledger.at_ms} />
        </span>
      </div>
      <div className="dim small">
        {preemption.step === null ? preemption.reason?.text : stepName(preemption.step)}, lost {lossWords(preemption.victims)}
      </div>
    </li>
  );
}
