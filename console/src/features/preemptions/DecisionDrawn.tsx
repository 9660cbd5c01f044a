// One decision drawn: the preemptor on the left, its victims on the right, below it what was tried before.
import "./drawn.css";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Ledger, Victim } from "../../api/types";
import { Tried, stepName } from "../../components/ReasonList";
import { Missing, isMissing } from "../../components/StateBlock";
import { JobRef, ModuleMark, PriorityChip, QuotaRef, When } from "../../components/chips";
import { number, work } from "../../formats";
import { SinceThen } from "./SinceThen";
import { decisionQuery } from "./queries";

export function DecisionDrawn({ seq, rows }: { seq: string; rows: readonly Ledger[] }) {
  const alone = useQuery(decisionQuery(seq));
  const found = rows.find((one) => String(one.seq) === seq) ?? alone.data;
  if (found === undefined) return isMissing(alone.error) ? <Missing what="preemption" id={`#${seq}`} all="/preemptions" name="All preemptions" /> : null;
  const { preemption } = found;
  const same = Math.abs(preemption.cost_gpu_seconds - preemption.cost_without_ladder_gpu_seconds) < 0.5;
  return (
    <section className="card stack drawn" aria-label={`Preemption ${seq}`} data-testid="decision">
      <div className="row apart">
        <h2>
          #{seq} <span className="dim" style={{ fontWeight: 400 }}><When at={found.at_ms} /></span>
        </h2>
        {preemption.step === null ? null : (
          <span>
            step <span className="strong">{stepName(preemption.step)}</span>
          </span>
        )}
        <Link to="/preemptions">Close</Link>
      </div>
      <div className="drawing">
        <div className="who taker">
          {found.preemptor === null || preemption.preemptor === null ? (
            <div>{preemption.reason?.text}</div>
          ) : (
            <>
              <div className="row">
                <span className="strong"><JobRef id={preemption.preemptor} name={found.preemptor.name ?? undefined} /></span>
                {found.preemptor.module === null ? null : <ModuleMark module={found.preemptor.module} />}
                <PriorityChip priority={found.preemptor.priority} />
              </div>
              <div className="dim small">
                {number(found.preemptor.gpus)} GPU at <QuotaRef id={found.preemptor.quota} />, took {number(preemption.victims.reduce((sum, one) => sum + (one.freed.gpus ?? 0), 0))} GPU
              </div>
            </>
          )}
        </div>
        <div className="arrow" aria-hidden="true">◀</div>
        <ol className="victims" aria-label="Victims">
          {preemption.victims.map((victim, place) => (
            <VictimBox key={place} victim={victim} name={found.names[victim.job]} most={Math.max(...preemption.victims.map((one) => one.cost_gpu_seconds), 1)} />
          ))}
          {preemption.demoted.map((job) => (
            <li key={job} className="who">
              <JobRef id={job} name={found.names[job]} /> <span className="dim small">turned idle, keeps running</span>
            </li>
          ))}
          {preemption.kept.map((job) => (
            <li key={job} className="who">
              <JobRef id={job} name={found.names[job]} /> <span className="dim small">was to go by this step, and keeps running</span>
            </li>
          ))}
        </ol>
      </div>
      <dl className="kv">
        <dt>Cost</dt>
        <dd>
          {work(preemption.cost_gpu_seconds)}
          <span className="dim"> · the cheapest lawful set without the priority ladder: {same ? "the same" : work(preemption.cost_without_ladder_gpu_seconds)}</span>
        </dd>
        <dt>Before it</dt>
        <dd>
          <Tried tried={preemption.tried} />
        </dd>
        <dt>Since</dt>
        <dd>
          <SinceThen seq={seq} />
        </dd>
      </dl>
    </section>
  );
}

function VictimBox({ victim, name, most }: { victim: Victim; name: string | undefined; most: number }) {
  return (
    <li className="who">
      <div className="row">
        <span className="strong"><JobRef id={victim.job} name={name} /></span>
        <PriorityChip priority={victim.priority} />
        <span>{number(victim.freed.gpus)} GPU</span>
        <span className="dim small">
          {victim.what} of <QuotaRef id={victim.quota} />
        </span>
      </div>
      <div className="costline">
        <span className="costbar" style={{ width: `${Math.max(2, (victim.cost_gpu_seconds / most) * 100)}%` }} aria-hidden="true" />
        <span className="small nowrap">
          lost {work(victim.lost_gpu_seconds)} <span className="dim">cost {work(victim.cost_gpu_seconds)}</span>
        </span>
      </div>
    </li>
  );
}
