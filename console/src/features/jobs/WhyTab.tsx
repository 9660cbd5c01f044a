// Why is the job where it is? All reasons, who holds the capacity, what was tried, what would help, who could take it.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { sentence } from "../../api/problems";
import { jobQuery, treeQuery } from "../../api/shared";
import type { Explanation, Job } from "../../api/types";
import { PreviewPanel } from "../../components/PreviewPanel";
import { Rules, ReasonLine, Tried, capital } from "../../components/ReasonList";
import { Answered } from "../../components/StateBlock";
import { JobRef, QuotaRef, When } from "../../components/chips";
import { count, gpus, number, work } from "../../formats";
import { actorOf, pathOf, squeezeOf, type Squeeze } from "./path";
import { EstimateLine } from "./EstimateLine";
import { estimateQuery, explanationQuery, exposureQuery } from "./queries";
import { Story } from "./HistoryTab";

export function WhyTab() {
  const { job: id } = useParams({ from: "/inside/jobs/$job" });
  const job = useQuery(jobQuery(id)).data;
  if (job === undefined) return null;
  const over = ["Succeeded", "Failed", "Cancelled"].includes(job.phase);
  return (
    <div className="cards" style={{ gridTemplateColumns: "minmax(0, 1.6fr) minmax(280px, 1fr)" }} data-wide>
      <div className="stack">
        {over ? <Ended job={job} /> : <Explained job={job} />}
        {job.phase === "Running" ? <Exposure id={id} /> : null}
      </div>
      <div className="stack">
        <Facts job={job} />
        <section className="card stack tight" aria-label="Story">
          <h2>Story</h2>
          <Story id={id} most={8} />
        </section>
      </div>
    </div>
  );
}

function Ended({ job }: { job: Job }) {
  return (
    <section className="card stack" aria-label="How it ended">
      <h2>
        {job.phase} <When at={job.ended_ms} />
      </h2>
      {job.reason === null ? null : <p><ReasonLine reason={job.reason} /></p>}
      {job.ending === null ? null : <p>{capital(job.ending)}</p>}
    </section>
  );
}

function Explained({ job }: { job: Job }) {
  const explanation = useQuery(explanationQuery(job.id));
  return <Answered query={explanation}>{(told) => (job.phase === "Running" ? <RunningStory told={told} /> : <WaitingStory job={job} told={told} />)}</Answered>;
}

function RunningStory({ told }: { told: Explanation }) {
  return (
    <section className="card stack" aria-label="Why it runs so">
      <h2>It runs</h2>
      {told.reasons.map((reason, place) => (
        <p key={place}>
          <ReasonLine reason={reason} />
        </p>
      ))}
      {told.reasons.length === 0 ? <p className="dim">With everything it asked for.</p> : null}
    </section>
  );
}

function WaitingStory({ job, told }: { job: Job; told: Explanation }) {
  const [first, ...others] = told.reasons;
  return (
    <section className="card stack" aria-label="Why it waits" data-testid="why">
      {first === undefined ? null : (
        <div>
          <Verdict job={job} told={told} otherwise={capital(first.text)} />
          <Rules rules={first.rules} />
        </div>
      )}
      {others.length === 0 ? null : (
        <div className="stack tight">
          <h2>{count(others.length, "further reason")}</h2>
          <ul style={{ margin: 0, paddingLeft: 18 }}>
            {others.map((reason, place) => (
              <li key={place}>
                <ReasonLine reason={reason} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {told.preempted_by === null ? null : (
        <p>
          <span className="dim">Evicted by </span>
          <JobRef id={told.preempted_by} />
          <span className="dim">, lost </span>
          {work(told.lost_gpu_seconds)}
        </p>
      )}
      <dl className="kv">
        <dt>Path</dt>
        <dd>
          <Path job={job} />
        </dd>
        <dt>Place</dt>
        <dd>
          {told.position === null ? "not in the queue" : `${told.position} in ${job.quota}`}
          {told.ahead.length === 0 ? null : <Ahead ahead={told.ahead} />}
        </dd>
        <dt>Held by</dt>
        <dd>
          {told.holders.length === 0 ? <span className="dim">nobody</span> : null}
          {told.holders.map((one) => (
            <div key={`${one.quota} ${one.claim}`}>
              <QuotaRef id={one.quota} /> {count(one.jobs, one.claim === "idle" ? "idle job" : "job")} {one.held > 0 ? `(${one.held} held) ` : ""}{gpus(one.gpus)}{" "}
              <span className="dim">
                priority {one.lowest_priority === one.highest_priority ? one.lowest_priority : `${one.lowest_priority}-${one.highest_priority}`}
              </span>
            </div>
          ))}
        </dd>
        {told.nodes.length === 0 ? null : <dt>Nodes</dt>}
        <dd hidden={told.nodes.length === 0}>
          {told.nodes.map((one) => (
            <div key={`${one.pool}${one.model}${one.state}`}>
              {one.pool}: {count(one.nodes, "node")} {one.state}, {number(one.free_gpus)} GPU free, {one.replicas_fit === 0 ? <span className="bad">none fits ✗</span> : <span className="good">{one.replicas_fit} fit ✓</span>}
            </div>
          ))}
        </dd>
        <dt>Tried</dt>
        <dd>
          <Tried tried={told.tried} />
        </dd>
        <dt>Helps</dt>
        <dd>
          {told.helps.map((one, place) => (
            <Help key={place} help={one} />
          ))}
        </dd>
        <dt>Next try</dt>
        <dd>{told.next_try}</dd>
        <dt>Start</dt>
        <dd>
          <Start id={job.id} />
        </dd>
        {told.hindered === null ? null : <dt>Has not begun</dt>}
        <dd hidden={told.hindered === null}>{told.hindered}</dd>
      </dl>
    </section>
  );
}

/** Why in one sentence: who stands in the way, where that is one party; else the server's first reason. Below it what would help. */
function Verdict({ job, told, otherwise }: { job: Job; told: Explanation; otherwise: string }) {
  const tree = useQuery(treeQuery).data;
  const actor = tree === undefined ? null : actorOf(tree, job.quota, wantedOf(job), told.holders);
  if (actor === null) return <p className="verdict">{otherwise}</p>;
  return (
    <>
      <p className="verdict" data-testid="verdict">
        {actor.jobs === 1 ? "A job" : count(actor.jobs, "job")} of <QuotaRef id={actor.quota} /> (priority {actor.priority}, {gpus(actor.gpus)}) {actor.jobs === 1 ? "stands" : "stand"} on {gpus(actor.squeezed)} of{" "}
        {actor.of}'s guarantee, which this job needs.
      </p>
      <p>{otherwise}</p>
    </>
  );
}

/** The GPUs that must be free together for it to start. */
function wantedOf(job: Job): number {
  const each = Math.max(0, ...job.groups.map((one) => one.gpus));
  return Math.max(each, (job.gpus / Math.max(1, job.replicas)) * job.core_replicas);
}

function Start({ id }: { id: string }) {
  const estimate = useQuery(estimateQuery(id));
  if (estimate.data) return <EstimateLine told={estimate.data} />;
  return <span className="dim">{estimate.isPending ? "being reckoned …" : estimate.error === null ? "–" : sentence(estimate.error)}</span>;
}

function Path({ job }: { job: Job }) {
  const tree = useQuery(treeQuery).data;
  if (tree === undefined) return null;
  return (
    <>
      {pathOf(tree, job.quota, wantedOf(job)).map((step, place) => (
        <span key={step.quota}>
          {place > 0 ? <span className="dim"> › </span> : null}
          <span className="nowrap">
            {step.quota} {number(step.unused)} of {number(step.min)} unused {step.fits ? <span className="good">✓</span> : <span className="bad">✗</span>}
          </span>
        </span>
      ))}
      <Squeezed squeeze={squeezeOf(tree, job.quota)} />
    </>
  );
}

/** Why the quota cannot use what it has left: who stands on its guarantee. */
function Squeezed({ squeeze }: { squeeze: Squeeze | null }) {
  if (squeeze === null) return null;
  return (
    <div>
      {gpus(squeeze.amount)} of {squeeze.quota}'s guarantee are <span className="bad">squeezed</span>
      {squeeze.by.map((one, place) => (
        <span key={one.quota}>
          {place === 0 ? ": " : ", "}
          <QuotaRef id={one.quota} /> {one.above ? "itself uses" : "has a loan of"} {gpus(one.amount)}
        </span>
      ))}
    </div>
  );
}

/** What would help; where the reader may do it, what would come of it. */
function Help({ help }: { help: Explanation["helps"][number] }) {
  const [asked, setAsked] = useState(false);
  return (
    <div className="stack tight">
      <span>
        {capital(help.text)}{" "}
        {help.action === null || asked ? null : (
          <button className="asks" onClick={() => setAsked(true)}>
            what would that do?
          </button>
        )}
      </span>
      {asked ? <PreviewPanel title={`If done now: ${help.action ?? ""}`} changes={[{ ...help.arguments, change: help.action } as never]} /> : null}
    </div>
  );
}

function Ahead({ ahead }: { ahead: Explanation["ahead"] }) {
  return (
    <span className="dim">
      , behind{" "}
      {ahead.slice(0, 5).map((one, place) => (
        <span key={place}>
          {place > 0 ? ", " : ""}
          <JobRef id={one.job} name={one.name ?? undefined} /> ({number(one.gpus)} GPU, priority {one.priority})
        </span>
      ))}
      {ahead.length > 5 ? ` and ${ahead.length - 5} more` : ""}
    </span>
  );
}

const RULES: Record<string, string> = { SelfLevelOwn: "self-level, own quota", SelfLevelSibling: "self-level, siblings", ChildLevel: "child-level" };

function Exposure({ id }: { id: string }) {
  const exposure = useQuery(exposureQuery(id));
  return (
    <section className="card stack tight" aria-label="Who could take it">
      <Answered query={exposure} rows={2}>
        {(items) => (
          <>
            <h2>{items.length === 0 ? "Nobody could take it" : `Exposed to ${count(items.length, "rule")}`}</h2>
            {items.length === 0 ? <p className="dim">No policy reaches it, and it stands on its own guarantee.</p> : null}
            <ul style={{ margin: 0, paddingLeft: 18 }}>
              {items.map((one, place) => (
                <li key={place}>
                  <QuotaRef id={one.quota} /> <span className="strong">{RULES[one.rule] ?? one.rule}</span>: {one.who}
                </li>
              ))}
            </ul>
          </>
        )}
      </Answered>
    </section>
  );
}

function Facts({ job }: { job: Job }) {
  return (
    <section className="card" aria-label="The job">
      <dl className="kv small">
        <dt>Id</dt>
        <dd className="mono">{job.id}</dd>
        <dt>Owner</dt>
        <dd>{job.owner}, {job.workspace}</dd>
        <dt>Replicas</dt>
        <dd>
          {job.running_replicas} of {job.replicas} run
          <span className="dim"> · at least {job.core_replicas}, at most {job.most_replicas}</span>
        </dd>
        <dt>Each</dt>
        <dd>{job.groups.map((one) => `${one.replicas} × ${number(one.gpus)} GPU`).join(", ")}</dd>
        <dt>Idle</dt>
        <dd>{job.idle}</dd>
        <dt>Grace</dt>
        <dd>{job.grace ?? "–"}</dd>
        <dt>Preempted</dt>
        <dd>
          {job.preempted} ×{job.max_preemptions === null ? "" : `, at most ${job.max_preemptions}`}
        </dd>
        <dt>Submitted</dt>
        <dd>
          <When at={job.submitted_ms} />
        </dd>
      </dl>
    </section>
  );
}
