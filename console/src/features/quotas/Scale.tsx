// A quota gets another size, and what would come of that now (Q5).
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import type { Quota } from "../../api/types";
import { Conflict } from "../../components/Conflict";
import { PreviewPanel } from "../../components/PreviewPanel";
import { useDraft } from "../../components/useDraft";
import { number } from "../../formats";
import { MODES, STALE, sizeLine, sizeOf, type Mode } from "./scaling";

export function Scale({ quotas }: { quotas: Quota[] }) {
  const [id, setId] = useState(quotas[0]?.id ?? "");
  const quota = quotas.find((one) => one.id === id) ?? quotas[0];
  if (quota === undefined) return null;
  return (
    <section className="card stack" aria-label="Scale">
      <h2>Scale</h2>
      <ScaleOne key={quota.id} quota={quota} names={quotas.map((one) => one.id)} onId={setId} />
    </section>
  );
}

type Draft = { to: string; mode: Mode };

function ScaleOne({ quota, names, onId }: { quota: Quota; names: string[]; onId: (id: string) => void }) {
  const edit = useDraft<Quota, Draft>({
    now: quota,
    version: (one) => one.version,
    read: () => ({ to: "", mode: "refuse" }),
    send: (base, { to, mode }) => call("post", "/api/v1/quotas/{quota}/scale", { path: { quota: base.id }, body: { ...sizeOf(base, Number(to)), mode } as never, version: base.version }),
    stale: STALE,
  });
  const { base, draft } = edit;
  const amount = Number(draft.to);
  const valid = draft.to.trim() !== "" && Number.isFinite(amount) && amount >= 0 && amount !== base.min.gpus;
  return (
    <>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <NativeSelect label="Quota" data={names} value={quota.id} onChange={(e) => onId(e.currentTarget.value)} />
        <TextInput label={`GPUs, now ${number(quota.min.gpus)}`} inputMode="numeric" value={draft.to} onChange={(e) => edit.set({ ...draft, to: e.currentTarget.value })} style={{ width: 120 }} />
        <NativeSelect label="If less" data={MODES} value={draft.mode} onChange={(e) => edit.set({ ...draft, mode: e.currentTarget.value as Mode })} />
        <Button disabled={!valid} loading={edit.pending} onClick={() => edit.save()}>
          Scale
        </Button>
      </div>
      {edit.clash ? <Conflict base={[sizeLine(base)]} theirs={[sizeLine(quota)]} mine={[sizeLine(base, amount)]} onTheirs={edit.takeTheirs} onMine={edit.goOn} /> : null}
      {edit.error === null ? null : <div className="notice bad" role="alert">{sentence(edit.error)}</div>}
      {valid ? <PreviewPanel title="If scaled now" changes={[{ change: "scale", quota: quota.id, ...sizeOf(base, amount), mode: draft.mode } as never]} /> : null}
    </>
  );
}
