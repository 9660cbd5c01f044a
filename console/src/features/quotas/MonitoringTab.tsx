// What was used, lent, squeezed and waited for over hours and days, with the preemptions marked.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Ledger, Series } from "../../api/types";
import { LinePlot, TIME_STEPS, type Line, type Mark } from "../../components/LinePlot";
import { stepName } from "../../components/ReasonList";
import { Answered, Empty } from "../../components/StateBlock";
import { JobRef, When } from "../../components/chips";
import { csv, download } from "../../csv";
import { count, duration, fullMoment, gpus, number, tickMoment, work } from "../../formats";
import { seriesQuery, takenQuery } from "./queries";
import { COLUMNS, gpuLines, hasAny, jobLines, rowsOf, waitLines } from "./series";
import { SpanChoice } from "./SpanChoice";
import { spanOf, spanWords, type SpanName } from "./spans";
import { useQuota } from "./useQuota";

export function MonitoringTab() {
  const quota = useQuota();
  const { span: asked } = useSearch({ from: "/inside/quotas/$quota/monitoring" });
  const span = spanOf(asked, "6h");
  const series = useQuery(seriesQuery(quota.id, span));
  return (
    <div className="stack">
      <div className="row apart">
        <SpanChoice to="/quotas/$quota/monitoring" quota={quota.id} span={span} spans={["1h", "6h", "24h", "7d", "30d", "90d"]} />
        {series.data === undefined || !hasAny(series.data) ? null : <Keep series={series.data} />}
      </div>
      <Answered query={series}>
        {(found) =>
          hasAny(found) ? (
            <Plots series={found} span={span} />
          ) : (
            <Empty title={`Nothing was written down in the last ${spanWords(span)}`}>The server looks once a minute, while it leads; come back in two minutes, or look further back.</Empty>
          )
        }
      </Answered>
    </div>
  );
}

const tick = (seconds: number, apart: number) => tickMoment(seconds * 1000, apart * 1000);
const moment = (seconds: number) => fullMoment(seconds * 1000);
const jobs = (value: number) => count(value, "job");
const wait = (seconds: number) => duration(seconds * 1000);

function Plots({ series, span }: { series: Series; span: SpanName }) {
  const quota = series.quota;
  const taken = useQuery(takenQuery(quota, span)).data;
  const x = useMemo(() => series.times.map((at) => at / 1000), [series]);
  const lines = useMemo(() => ({ gpu: gpuLines(series), jobs: jobLines(series), wait: waitLines(series) }), [series]);
  const marks = useMemo<Mark[]>(() => (taken?.items ?? []).map((one) => ({ at: one.at_ms / 1000, label: `#${one.seq}` })), [taken]);
  const common = { x, time: true, until: series.until / 1000, tick, moment, marks, sync: "quota" };
  return (
    <>
      <section className="card stack tight" aria-label="GPUs over time">
        <div className="row apart">
          <h2>GPUs</h2>
          <span className="dim small">
            {series.step === "minute" ? "each minute" : `means of each ${series.step}, dotted: its highest minute`}
            {marks.length === 0 ? "" : "; ▾ preemptions"}
          </span>
        </div>
        <LinePlot {...common} label={`GPUs of ${quota} over ${spanWords(span)}: ${spoken(lines.gpu, gpus)}`} lines={lines.gpu} value={gpus} axis={number} height={280} />
      </section>
      {taken === undefined ? null : <Taken items={taken.items} more={taken.next !== null} span={span} />}
      <div className="cards">
        <section className="card stack tight" aria-label="Jobs over time">
          <h2>Jobs of {quota} itself</h2>
          <LinePlot {...common} label={`Jobs over ${spanWords(span)}: ${spoken(lines.jobs, jobs)}`} lines={lines.jobs} value={jobs} axis={number} height={190} />
        </section>
        <section className="card stack tight" aria-label="Longest wait over time">
          <h2>Longest wait</h2>
          <LinePlot {...common} label={`Longest wait over ${spanWords(span)}: ${spoken(lines.wait, wait)}`} lines={lines.wait} value={wait} axis={wait} steps={TIME_STEPS} height={190} />
        </section>
      </div>
    </>
  );
}

/** What a plot shows, for those who do not see it: each line's highest and last value. */
function spoken(lines: readonly Line[], words: (value: number) => string): string {
  return lines
    .map((line) => {
      const known = line.values.filter((value) => value !== null);
      return known.length === 0 ? `${line.label} unknown` : `${line.label} at most ${words(Math.max(...known))}, now ${words(known[known.length - 1] ?? 0)}`;
    })
    .join("; ");
}

function Taken({ items, more, span }: { items: readonly Ledger[]; more: boolean; span: SpanName }) {
  return (
    <section className="card stack tight" aria-label="Preemptions in this time">
      <h2>{items.length === 0 ? `No preemption in the last ${spanWords(span)}` : `${more ? "The newest " : ""}${count(items.length, "preemption")}`}</h2>
      <ul className="lines">
        {items.slice(0, 8).map((one) => (
          <li key={one.seq} className="row">
            <Link to="/preemptions/$seq" params={{ seq: String(one.seq) }}>
              #{one.seq}
            </Link>
            <span className="dim small">
              <When at={one.at_ms} />
            </span>
            {one.preemption.preemptor === null ? null : <JobRef id={one.preemption.preemptor} name={one.names[one.preemption.preemptor]} />}
            <span className="dim">
              {one.preemption.preemptor === null ? "ended" : "took"} {count(one.preemption.victims.length, "job")}, {one.preemption.step === null ? one.preemption.reason?.text : stepName(one.preemption.step)}, lost {work(one.preemption.victims.reduce((sum, victim) => sum + victim.lost_gpu_seconds, 0))}
            </span>
          </li>
        ))}
        {items.length > 8 ? (
          <li className="small">
            <Link to="/preemptions">all of them</Link>
          </li>
        ) : null}
      </ul>
    </section>
  );
}

function Keep({ series }: { series: Series }) {
  const keep = () => download(`${series.quota}-${series.step}.csv`, csv(["time", ...COLUMNS.map((name) => `gpu_${name}`), "running_jobs", "waiting_jobs", "oldest_waiting_s"], rowsOf(series)));
  return (
    <Button variant="default" onClick={keep}>
      CSV
    </Button>
  );
}
