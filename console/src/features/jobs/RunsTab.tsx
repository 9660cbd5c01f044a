// Each time the job ran: when, how it ended, on which node and GPUs.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { jobQuery } from "../../api/shared";
import type { Run } from "../../api/types";
import { Answered, Empty } from "../../components/StateBlock";
import { Ago, When } from "../../components/chips";
import { duration } from "../../formats";
import { endpointQuery, runsQuery } from "./queries";

export function RunsTab() {
  const { job: id } = useParams({ from: "/inside/jobs/$job" });
  const job = useQuery(jobQuery(id)).data;
  const runs = useQuery(runsQuery(id));
  return (
    <div className="stack">
      {job?.module === "EAS" || job?.module === "DSW" ? <Endpoint id={id} /> : null}
      <Answered query={runs}>
        {(items) => (items.length === 0 ? <Empty title="It has not run yet">Under Why you find what it waits for.</Empty> : items.map((run) => <OneRun key={run.run} run={run} />))}
      </Answered>
    </div>
  );
}

function Endpoint({ id }: { id: string }) {
  const endpoint = useQuery(endpointQuery(id)).data;
  if (endpoint === undefined || endpoint.address === null) return null;
  return (
    <p>
      Address{" "}
      <a href={endpoint.address} rel="noopener noreferrer" className="mono">
        {endpoint.address}
      </a>
      <span className="dim">, {endpoint.ready} replicas ready</span>
    </p>
  );
}

function OneRun({ run }: { run: Run }) {
  return (
    <section className="card stack tight" aria-label={`Run ${run.run}`}>
      <div className="row">
        <h2>Run {run.run}</h2>
        <span className={run.ended_ms === null ? "chip good" : "chip"}>{run.ended_ms === null ? "running" : (run.outcome ?? "ended")}</span>
        {run.claim === "idle" ? <span className="chip warn">idle</span> : null}
        <span className="dim">
          <When at={run.started_ms} />, {run.ended_ms === null ? <Ago from={run.started_ms} /> : duration(run.ended_ms - run.started_ms)}
        </span>
        {run.detail === "" ? null : <span className="dim">{run.detail}</span>}
      </div>
      <div className="tablebox" tabIndex={0} role="region" aria-label={`Places of run ${run.run}`}>
        <table className="data">
          <thead>
            <tr>
              <th scope="col">Replica</th>
              <th scope="col">Node</th>
              <th scope="col">GPUs</th>
              <th scope="col" className="from-medium">From</th>
              <th scope="col">Until</th>
            </tr>
          </thead>
          <tbody>
            {run.places.map((place) => (
              <tr key={`${place.replica}-${place.from_ms}`}>
                <td>{place.replica}</td>
                <td className="mono">{place.node}</td>
                <td className="mono">{place.devices.join(" ")}</td>
                <td className="from-medium">
                  <When at={place.from_ms} />
                </td>
                <td>{place.until_ms === null ? <span className="dim">now</span> : <When at={place.until_ms} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
