// One what-if run: how far it is, and the variants side by side, with plots.
import { Button, Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { useChange } from "../../api/shared";
import { Answered } from "../../components/StateBlock";
import { count, duration } from "../../formats";
import { compared } from "./compare";
import { Plot, topOf } from "./Plot";
import { runQuery, type Simulation } from "./queries";

export function RunPage() {
  const { run: id } = useParams({ from: "/inside/what-if/$run" });
  const run = useQuery(runQuery(id));
  return (
    <div className="page stack">
      <Answered query={run}>{(found) => <Shown run={found} />}</Answered>
    </div>
  );
}

function Shown({ run }: { run: Simulation }) {
  const navigate = useNavigate();
  const drop = useChange(() => call("delete", "/api/v1/simulations/{simulation}", { path: { simulation: run.id } }), [keys.simulations], () => void navigate({ to: "/what-if" }));
  const done = run.variants.flatMap((one) => (one.result === null ? [] : [{ name: one.name, result: one.result }]));
  return (
    <>
      <div className="head" style={{ marginBottom: 0 }}>
        <h1>What if: {run.title || run.id}</h1>
        <span className="chip">{run.state}</span>
        <span className="dim">
          {count(run.jobs, "job")} of {run.quota}, {duration(run.before_ms - run.from_ms)}
        </span>
        <div className="actions">
          <Button variant="default" component={Link} to="/what-if">
            Another one
          </Button>
          <Button variant="default" loading={drop.isPending} onClick={() => drop.mutate(undefined)}>
            {run.state === "running" || run.state === "waiting" ? "Cancel" : "Forget"}
          </Button>
        </div>
      </div>
      {run.state === "running" || run.state === "waiting" ? (
        <section className="card stack tight" aria-label="Progress">
          <Progress value={(run.progress?.fraction ?? 0) * 100} aria-label="Progress of the simulation" />
          <span className="dim small" role="status">
            {run.progress === null ? "waits for its turn" : `${run.variants[run.progress.variant]?.name ?? ""}: ${run.progress.ended} of ${run.progress.total} jobs${run.progress.seconds_left === null ? "" : `, about ${duration(run.progress.seconds_left * 1000)} left`}`}
          </span>
        </section>
      ) : null}
      {run.error === null ? null : <div className="notice bad" role="alert">{run.error}</div>}
      {run.skipped.length === 0 ? null : <p className="dim small">Not replayed: {run.skipped.join("; ")}</p>}
      {done.length === 0 ? null : (
        <>
          <div className="tablebox" tabIndex={0} role="region" aria-label="Comparison">
            <table className="data">
              <thead>
                <tr>
                  <th scope="col">Figure</th>
                  {done.map((one) => (
                    <th scope="col" key={one.name} className="right">
                      {one.name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {compared(done.map((one) => one.result)).map((line) => (
                  <tr key={line.name}>
                    <td>{line.name}</td>
                    {line.values.map((value, place) => (
                      <td key={place} className={line.better === place ? "right strong good" : "right"}>
                        {value}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <div className="cards">
            {done.map((one) => (
              <Plot key={one.name} title={one.name} series={one.result.series} fromMs={run.from_ms} top={Math.max(...done.map((all) => topOf(all.result.series)))} />
            ))}
          </div>
        </>
      )}
    </>
  );
}
