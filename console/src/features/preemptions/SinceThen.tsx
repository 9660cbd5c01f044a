// What became of the jobs of a decision since.
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { Answered } from "../../components/StateBlock";
import { JobRef, PhaseChip, QuotaRef } from "../../components/chips";
import { ordinal } from "../../formats";

export function SinceThen({ seq }: { seq: number }) {
  const detail = useQuery({
    queryKey: keys.preemptions({ seq }),
    queryFn: ({ signal }) => call("get", "/api/v1/preemptions/{seq}", { path: { seq }, signal }),
  });
  return (
    <Answered query={detail} rows={2}>
      {(found) =>
        found.since.length === 0 ? (
          <span className="dim">of jobs that you may not see</span>
        ) : (
          <ul className="lines">
            {found.since.map((one) => (
              <li key={one.job} className="row" style={{ padding: "3px 0" }}>
                <JobRef id={one.job} name={one.name || one.job} /> <PhaseChip phase={one.phase} />
                {one.position === null ? null : (
                  <span className="dim">
                    {ordinal(one.position)} in <QuotaRef id={one.quota} />
                  </span>
                )}
                {one.run > 1 ? <span className="dim">run {one.run}</span> : null}
              </li>
            ))}
          </ul>
        )
      }
    </Answered>
  );
}
