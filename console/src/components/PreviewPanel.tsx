// If this were done now: who starts, who is evicted and what that costs, whose work becomes exposed.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { sentence } from "../api/problems";
import { preview } from "../api/shared";
import type { Decision, Preview, PreviewIn } from "../api/types";
import { count, moment, work } from "../formats";
import { ReasonLine } from "./ReasonList";
import { JobNames, JobRef } from "./chips";
import { isQuiet, told } from "./preview";

const PAUSE_MS = 250;

/** The answer to the last valid question; `changes` null asks nothing and leaves the last answer standing. */
export function usePreview(changes: PreviewIn["changes"] | null) {
  const question = JSON.stringify(changes);
  const [asked, setAsked] = useState<string>(question);
  useEffect(() => {
    if (changes === null) return undefined;
    const timer = setTimeout(() => setAsked(question), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [question, changes]);
  return useQuery({
    queryKey: ["quotas", "preview", asked],
    queryFn: ({ signal }) => preview(JSON.parse(asked) as PreviewIn["changes"], signal),
    enabled: asked !== "null",
    placeholderData: keepPreviousData,
    staleTime: 0,
    retry: false,
  });
}

export function PreviewPanel({ changes, title = "If saved now" }: { changes: PreviewIn["changes"] | null; title?: string }) {
  const query = usePreview(changes);
  return (
    <section className="card stack" aria-label={title} aria-live="polite" data-testid="preview">
      <div className="row apart">
        <h2>{title}</h2>
        <span className="dim small">
          {query.data === undefined ? null : moment(query.dataUpdatedAt, Date.now())}{" "}
          <button className="linkish" onClick={() => void query.refetch()} aria-label="Ask again">
            ⟳
          </button>
        </span>
      </div>
      {query.error !== null ? <div className="notice bad">{sentence(query.error)}</div> : null}
      {query.data === undefined ? query.error === null ? <p className="dim">Nothing to preview yet.</p> : null : <PreviewStory preview={query.data} />}
    </section>
  );
}

export function PreviewStory({ preview: answer }: { preview: Preview }) {
  const said = told(answer);
  return (
    <JobNames value={answer.names}>
      <div className="stack">
        {isQuiet(said) ? <p>Nothing would start and nobody would be evicted.</p> : null}
        <Group title={count(said.starts.length, "start")} shade="good" decisions={said.starts} />
        <Group title={`${count(said.holds.length, "start")} once others have left`} shade="info" decisions={said.holds} />
        <Group title={`${said.evicted.length} evicted, losing ${work(said.lostGpuSeconds)}`} shade="bad" decisions={said.evicted} />
        <Group title={`${said.demoted.length} turned idle`} shade="warn" decisions={said.demoted} />
        <Waiting decisions={said.waits} hidden={answer.hidden} />
        <Exposed exposed={said.exposed} />
      </div>
    </JobNames>
  );
}

function Group({ title, shade, decisions }: { title: string; shade: string; decisions: Decision[] }) {
  if (decisions.length === 0) return null;
  return (
    <div className="stack tight">
      <div>
        <span className={`chip ${shade}`}>{title}</span>
      </div>
      <ul style={{ margin: 0, paddingLeft: 18 }} className="small">
        {decisions.slice(0, 12).map((one, place) => (
          <li key={place}>
            <Subject decision={one} /> <Effect decision={one} />
          </li>
        ))}
        {decisions.length > 12 ? <li className="dim">and {decisions.length - 12} more</li> : null}
      </ul>
    </div>
  );
}

function Subject({ decision }: { decision: Decision }) {
  return <JobRef id={decision.job} />;
}

function Effect({ decision }: { decision: Decision }) {
  if (decision.kind === "Evict" || decision.kind === "Stop")
    return (
      <>
        loses {work(decision.lost_gpu_seconds)}
        <span className="dim"> · cost {work(decision.cost_gpu_seconds)}</span>
        {decision.requeued ? <span className="dim"> · queued again</span> : null}
        {decision.moved ? <span className="dim"> · moved</span> : null}
      </>
    );
  const nodes = [...new Set((decision.places ?? []).map((place) => place.node))];
  return (
    <span className="dim">
      {nodes.length > 0 ? `on ${nodes.slice(0, 4).join(", ")}${nodes.length > 4 ? " …" : ""}` : <ReasonLine reason={decision.reason} />}
    </span>
  );
}

function Waiting({ decisions, hidden }: { decisions: Decision[]; hidden: number }) {
  if (decisions.length === 0) return hidden > 0 ? <p className="dim small">{count(hidden, "job")} of others would go on waiting.</p> : null;
  return (
    <details>
      <summary className="small">{count(decisions.length, "job")} would wait</summary>
      <ul style={{ margin: 0, paddingLeft: 18 }} className="small">
        {decisions.slice(0, 10).map((one, place) => (
          <li key={place}>
            <JobRef id={one.job} /> <ReasonLine reason={one.reason} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Exposed({ exposed }: { exposed: Preview["exposed"] }) {
  const jobs = new Set(exposed.map((one) => one.job));
  if (jobs.size === 0) return null;
  return (
    <details>
      <summary className="small">
        <span className="chip warn">{count(jobs.size, "running job becomes", "running jobs become")} exposed</span>
      </summary>
      <ul style={{ margin: "6px 0 0", paddingLeft: 18 }} className="small">
        {[...jobs].slice(0, 20).map((job) => (
          <li key={job}>
            <JobRef id={job} />
          </li>
        ))}
      </ul>
    </details>
  );
}
