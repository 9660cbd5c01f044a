// GPUs go from one child to another in one step: two sliders that always sum up (Q5).
import { Button, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { useChange } from "../../api/shared";
import type { Quota } from "../../api/types";
import { PreviewPanel } from "../../components/PreviewPanel";
import { number } from "../../formats";
import { MODES, STALE } from "./ChildrenTab";

export function Transfer({ quotas }: { quotas: Quota[] }) {
  const [first, setFirst] = useState(quotas[0]?.id ?? "");
  const [second, setSecond] = useState(quotas[1]?.id ?? "");
  const [moved, setMoved] = useState(0); // GPUs from the second to the first; below 0 the other way
  const [mode, setMode] = useState<"refuse" | "lazy" | "reclaim">("refuse");
  const one = quotas.find((quota) => quota.id === first);
  const two = quotas.find((quota) => quota.id === second);
  const a = one?.min.gpus ?? 0;
  const b = two?.min.gpus ?? 0;
  const body = {
    source: moved > 0 ? second : first,
    target: moved > 0 ? first : second,
    amount: { gpus: Math.abs(moved) },
    mode,
  };
  const save = useChange(() => call("post", "/api/v1/quota-transfers", { body }), STALE, () => setMoved(0));
  const names = quotas.map((quota) => quota.id);
  const valid = moved !== 0 && first !== second;
  const choose = (set: (id: string) => void) => (id: string) => {
    set(id);
    setMoved(0);
  };
  return (
    <section className="card stack" aria-label="Transfer">
      <div className="row apart">
        <h2>Move GPUs between two children</h2>
        <span className="dim small">sum {number(a + b)} GPU</span>
      </div>
      <div className="sliders">
        <Side names={names} id={first} onId={choose(setFirst)} before={a} now={a + moved} most={a + b} onNow={(value) => setMoved(value - a)} />
        <Side names={names} id={second} onId={choose(setSecond)} before={b} now={b - moved} most={a + b} onNow={(value) => setMoved(b - value)} />
      </div>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <NativeSelect label="If more is used than stays" data={MODES} value={mode} onChange={(e) => setMode(e.currentTarget.value as "lazy")} />
        <Button disabled={!valid} loading={save.isPending} onClick={() => save.mutate(undefined)}>
          {valid ? `Move ${number(Math.abs(moved))} GPU to ${body.target}` : "Move"}
        </Button>
      </div>
      {first === second ? <div className="bad small">choose two different quotas</div> : null}
      {save.error === null ? null : <div className="notice bad" role="alert">{sentence(save.error)}</div>}
      {valid ? <PreviewPanel title="If moved now" changes={[{ change: "transfer", ...body } as never]} /> : null}
    </section>
  );
}

type SideProps = { names: string[]; id: string; onId: (id: string) => void; before: number; now: number; most: number; onNow: (value: number) => void };

function Side({ names, id, onId, before, now, most, onNow }: SideProps) {
  return (
    <div className="stack tight">
      <NativeSelect aria-label="Child quota" data={names} value={id} onChange={(e) => onId(e.currentTarget.value)} />
      <input type="range" aria-label={`GPUs of ${id}`} min={0} max={most} step={1} value={now} onChange={(e) => onNow(Number(e.currentTarget.value))} />
      <span>
        <span className="dim">{number(before)} → </span>
        <span className="strong">{number(now)} GPU</span>
      </span>
    </div>
  );
}
