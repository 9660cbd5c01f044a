// When will it start, and what does that rest on?
import type { Estimate } from "../../api/types";
import { capital } from "../../components/ReasonList";
import { useNow } from "../../components/now";
import { estimateWords } from "./estimate";

export function EstimateLine({ told }: { told: Estimate }) {
  const now = useNow(60_000);
  return (
    <div className="stack tight">
      <span className={told.likely_ms === null ? "dim" : "strong"}>{estimateWords(told, now)}</span>
      {told.rests_on.length === 0 ? null : (
        <details className="small">
          <summary>what that rests on</summary>
          <ul style={{ margin: "4px 0 0", paddingLeft: 18 }}>
            {told.rests_on.map((one) => (
              <li key={one}>{capital(one)}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
