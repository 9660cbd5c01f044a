// GPUs go from one child to another in one step: two sliders that always sum up (Q5).
import { Button, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import type { Quota } from "../../api/types";
import { Conflict, type Lines } from "../../components/Conflict";
import { PreviewPanel } from "../../components/PreviewPanel";
import { useDraft } from "../../components/useDraft";
import { number } from "../../formats";
import { MODES, STALE, sizeLine, type Mode } from "./scaling";

export function Transfer({ quotas }: { quotas: Quota[] }) {
  const [first, setFirst] = useState(quotas[0]?.id ?? "");
  const [second, setSecond] = useState(quotas[1]?.id ?? "");
  const one = quotas.find((quota) => quota.id === first) ?? quotas[0];
  const two = quotas.find((quota) => quota.id === second) ?? quotas[1];
  if (one === undefined || two === undefined) return null;
  return (
    <section className="card stack" aria-label="Transfer">
      <Between key={`${one.id} ${two.id}`} pair={{ one, two }} names={quotas.map((quota) => quota.id)} onFirst={setFirst} onSecond={setSecond} />
    </section>
  );
}

type Pair = { one: Quota; two: Quota };
type Draft = { to: number | null; mode: Mode }; // how many GPUs the first shall have; null: as many as now

/** The lines of a pair, before anything is moved or after. */
function lines({ one, two }: Pair, moved = 0): Lines {
  return [sizeLine(one, (one.min.gpus ?? 0) + moved), sizeLine(two, (two.min.gpus ?? 0) - moved)];
}

/** GPUs from the second to the first; below 0 the other way. */
function movedOf({ one }: Pair, { to }: Draft): number {
  return to === null ? 0 : to - (one.min.gpus ?? 0);
}

function bodyOf({ one, two }: Pair, draft: Draft) {
  const moved = movedOf({ one, two }, draft);
  return { source: moved > 0 ? two.id : one.id, target: moved > 0 ? one.id : two.id, amount: { gpus: Math.abs(moved) }, mode: draft.mode };
}

type BetweenProps = { pair: Pair; names: string[]; onFirst: (id: string) => void; onSecond: (id: string) => void };

function Between({ pair, names, onFirst, onSecond }: BetweenProps) {
  const edit = useDraft<Pair, Draft>({
    now: pair,
    version: ({ one, two }) => `${one.version} ${two.version}`,
    read: () => ({ to: null, mode: "refuse" }),
    send: (base, draft) => call("post", "/api/v1/quota-transfers", { body: bodyOf(base, draft), version: (movedOf(base, draft) > 0 ? base.two : base.one).version }),
    stale: STALE,
  });
  const { base, draft } = edit;
  const { mode } = draft;
  const moved = movedOf(base, draft);
  const a = base.one.min.gpus ?? 0;
  const b = base.two.min.gpus ?? 0;
  const body = bodyOf(base, draft);
  const valid = moved !== 0 && pair.one.id !== pair.two.id;
  const set = (to: number) => edit.set({ ...draft, to });
  return (
    <>
      <div className="row apart">
        <h2>Move GPUs between two children</h2>
        <span className="dim small">sum {number(a + b)} GPU</span>
      </div>
      <div className="sliders">
        <Side names={names} id={pair.one.id} onId={onFirst} before={a} now={a + moved} most={a + b} onNow={set} />
        <Side names={names} id={pair.two.id} onId={onSecond} before={b} now={b - moved} most={a + b} onNow={(value) => set(a + b - value)} />
      </div>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <NativeSelect label="If more is used than stays" data={MODES} value={mode} onChange={(e) => edit.set({ ...draft, mode: e.currentTarget.value as Mode })} />
        <Button disabled={!valid} loading={edit.pending} onClick={() => edit.save()}>
          {valid ? `Move ${number(Math.abs(moved))} GPU to ${body.target}` : "Move"}
        </Button>
      </div>
      {pair.one.id === pair.two.id ? <div className="bad small">choose two different quotas</div> : null}
      {edit.clash ? <Conflict base={lines(base)} theirs={lines(pair)} mine={lines(base, moved)} onTheirs={edit.takeTheirs} onMine={edit.goOn} /> : null}
      {edit.error === null ? null : <div className="notice bad" role="alert">{sentence(edit.error)}</div>}
      {valid ? <PreviewPanel title="If moved now" changes={[{ change: "transfer", ...body } as never]} /> : null}
    </>
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
