// What was decided about a job, and why, in order.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Decided, Decision } from "../../api/types";
import { ReasonLine } from "../../components/ReasonList";
import { Answered } from "../../components/StateBlock";
import { JobRef, When } from "../../components/chips";
import { work } from "../../formats";
import { storyQuery } from "./queries";

const VERBS: Record<string, string> = {
  Start: "started", Hold: "got a hold", Evict: "evicted", Demote: "turned idle", Promote: "promoted", Release: "hold given up",
  Stop: "stopped", Fail: "failed", Alarm: "alarm", Wait: "waits",
};

export function HistoryTab() {
  const { job: id } = useParams({ from: "/inside/jobs/$job" });
  return (
    <section className="card">
      <Story id={id} />
    </section>
  );
}

/** The newest decisions first; `most` of them. */
export function Story({ id, most = 200 }: { id: string; most?: number }) {
  const story = useQuery(storyQuery(id));
  return (
    <Answered query={story} rows={3}>
      {(items) => {
        const newest = [...items].sort((a, b) => b.seq - a.seq).slice(0, most);
        if (newest.length === 0) return <p className="dim">Nothing was decided yet.</p>;
        return (
          <ol className="timeline">
            {newest.map((one) => (
              <Line key={one.seq} decided={one} />
            ))}
          </ol>
        );
      }}
    </Answered>
  );
}

function Line({ decided }: { decided: Decided }) {
  const { decision } = decided;
  return (
    <li>
      <When at={decided.at_ms} />
      <span>
        <span className={decision.kind === "Evict" ? "strong bad" : "strong"}>{verb(decision)}</span>{" "}
        {decision.preemptor ? (
          <>
            for <JobRef id={decision.preemptor} />,{" "}
          </>
        ) : null}
        {decision.lost_gpu_seconds ? <>lost {work(decision.lost_gpu_seconds)}. </> : null}
        <span className="dim">
          <ReasonLine reason={decision.reason} />
        </span>
        {decision.places && decision.places.length > 0 ? <div className="dim small">{decision.places.map((one) => `${one.node} GPU ${one.devices.join(",")}`).join(" · ")}</div> : null}
      </span>
    </li>
  );
}

function verb(decision: Decision): string {
  if (decision.kind === "Start" && decision.grows) return "grew";
  if (decision.kind === "Evict" && decision.moved) return "moved";
  return VERBS[decision.kind] ?? decision.kind;
}
