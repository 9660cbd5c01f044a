// What became of the jobs of a decision since.
import { useQuery } from "@tanstack/react-query";
import { Answered } from "../../components/StateBlock";
import { JobRef, PhaseChip, QuotaRef } from "../../components/chips";
import { ordinal } from "../../formats";
import { decisionQuery } from "./queries";

export function SinceThen({ seq }: { seq: string }) {
  const detail = useQuery(decisionQuery(seq));
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
