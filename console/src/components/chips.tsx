// Small marks that mean one thing everywhere: priority, module, phase, amount, moment, job, quota.
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { jobQuery } from "../api/shared";
import { duration, fullMoment, moment, number } from "../formats";
import { Go, jobPath, quotaPath } from "./Go";
import { icons } from "./icons";
import { useNow } from "./now";

/** Names of priorities, by number (W6). */
export const PriorityNames = createContext<ReadonlyMap<number, string>>(new Map());

export function PriorityChip({ priority }: { priority: number }) {
  const name = useContext(PriorityNames).get(priority);
  const shade = priority >= 7 ? "prio high" : priority >= 4 ? "prio mid" : "prio";
  return (
    <span className="row tight" style={{ display: "inline-flex", flexWrap: "nowrap" }}>
      <span className={shade} title={`priority ${priority}${name === undefined ? "" : `, ${name}`}`}>
        <span className="visually-hidden">priority </span>
        {priority}
      </span>
      {name === undefined ? null : <span className="dim small">{name}</span>}
    </span>
  );
}

const MODULE_WORDS: Record<string, string> = { DLC: "training", DSW: "notebook", EAS: "service" };

export function ModuleMark({ module }: { module: string }) {
  return (
    <span className="module" title={MODULE_WORDS[module]}>
      {icons[module as "DLC"] ?? null} {module}
    </span>
  );
}

const PHASE_SHADE: Record<string, string> = { Running: "good", Waiting: "warn", Held: "info", Failed: "bad" };

export function PhaseChip({ phase }: { phase: string }) {
  return <span className={`chip ${PHASE_SHADE[phase] ?? ""}`}>{phase}</span>;
}

export function Gpus({ value }: { value: number | null | undefined }) {
  return (
    <>
      {number(value)}
      <span className="unit dim"> GPU</span>
    </>
  );
}

export function When({ at }: { at: number | null | undefined }) {
  const now = useNow(60_000);
  if (at === null || at === undefined) return <span className="dim">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullMoment(at)} className="nowrap">
      {moment(at, now)}
    </time>
  );
}

export function Ago({ from }: { from: number }) {
  const now = useNow();
  return (
    <span title={fullMoment(from)} className="nowrap">
      {duration(now - from)}
    </span>
  );
}

type Wait = { submitted_ms: number; waiting_since_ms: number | null; waited_before_ms: number };

/** How long a job waits since it last began to, and all its waits together where it waited before. */
export function Waits({ job }: { job: Wait }) {
  const now = useNow();
  const since = job.waiting_since_ms ?? job.submitted_ms;
  return (
    <span title={`since ${fullMoment(since)}`} className="nowrap">
      {duration(now - since)}
      {job.waited_before_ms < 1000 ? null : <span className="dim">, {duration(now - since + job.waited_before_ms)} in all</span>}
    </span>
  );
}

/** Names of jobs by id, as an answer tells them beside its ids: so nobody asks for each job. */
export const JobNames = createContext<Readonly<Record<string, string>>>({});

/** A job that the reader may know is a link with its name; one of another team is told as the server tells it. */
export function JobRef({ id, name }: { id: string; name?: string | undefined }) {
  const names = useContext(JobNames);
  const known = name ?? names[id];
  if (isHidden(id)) return <span className="dim">{id.slice(1, -1)}</span>;
  if (known === undefined) return <LookedUp id={id} />;
  return (
    <Go to={jobPath(id)} title={id}>
      {known}
    </Go>
  );
}

function LookedUp({ id }: { id: string }) {
  const name = useQuery({ ...jobQuery(id), staleTime: 60_000 }).data?.name;
  return (
    <Go to={jobPath(id)} title={id} className={name ? undefined : "mono"}>
      {name || id}
    </Go>
  );
}

/** Whether the server told a description in brackets instead of a name. */
export function isHidden(name: string): boolean {
  return name.startsWith("[");
}

export function QuotaRef({ id }: { id: string }) {
  if (isHidden(id)) return <span className="dim">{id.slice(1, -1)}</span>;
  return <Go to={quotaPath(id)}>{id}</Go>;
}
