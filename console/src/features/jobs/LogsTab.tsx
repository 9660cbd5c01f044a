// What a replica prints, as it prints it.
import { NativeSelect, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { search, send } from "../../api/client";
import { problemOf, sentence } from "../../api/problems";
import { jobQuery } from "../../api/shared";

const MOST_CHARACTERS = 400_000;

export function LogsTab() {
  const { job: id } = useParams({ from: "/inside/jobs/$job" });
  const job = useQuery(jobQuery(id)).data;
  const [replica, setReplica] = useState("0");
  const [follow, setFollow] = useState(true);
  const { text, wrong } = useLog(id, Number(replica), follow, job?.run ?? 0);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (follow) end.current?.scrollIntoView({ block: "nearest" });
  }, [text, follow]);
  const replicas = Array.from({ length: Math.max(1, job?.most_replicas ?? 1) }, (_, place) => String(place));
  return (
    <div className="stack">
      <div className="filters">
        <NativeSelect aria-label="Replica" value={replica} data={replicas.map((one) => ({ value: one, label: `replica ${one}` }))} onChange={(e) => setReplica(e.currentTarget.value)} />
        <Switch label="Follow" checked={follow} onChange={(e) => setFollow(e.currentTarget.checked)} />
      </div>
      {wrong === null ? null : <div className="notice warn" role="status">{wrong}</div>}
      <pre className="log" role="log" tabIndex={0} aria-label="Log">
        {text === "" && wrong === null ? <span className="dim">Nothing was printed yet.</span> : text}
        <div ref={end} />
      </pre>
    </div>
  );
}

function useLog(job: string, replica: number, follow: boolean, run: number): { text: string; wrong: string | null } {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  useEffect(() => {
    const ended = new AbortController();
    const read = async () => {
      setText("");
      setWrong(null);
      const address = `/api/v1/jobs/${encodeURIComponent(job)}/logs${search({ replica, tail_lines: 1000, follow })}`;
      const response = await send("get", address, undefined, undefined, ended.signal);
      if (!response.ok || response.body === null) throw await problemOf(response);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        setText((before) => (before + value).slice(-MOST_CHARACTERS));
      }
    };
    read().catch((error: unknown) => {
      if (!ended.signal.aborted) setWrong(sentence(error));
    });
    return () => ended.abort();
  }, [job, replica, follow, run]);
  return { text, wrong };
}
