// One more change of the tree to try.
import { Button, NativeSelect, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { editProblem, type Edit } from "./draft";

const KINDS = [
  { value: "child", label: "child-level preemption" },
  { value: "self", label: "self-level preemption" },
  { value: "strategy", label: "strategy" },
  { value: "scale", label: "size" },
];

export function EditForm({ quotas, onAdd }: { quotas: string[]; onAdd: (edit: Edit) => void }) {
  const [quota, setQuota] = useState(quotas[0] ?? "");
  const [kind, setKind] = useState<Edit["kind"]>("child");
  const [on, setOn] = useState(true);
  const [priorities, setPriorities] = useState("1-3");
  const [high, setHigh] = useState("6-9");
  const [low, setLow] = useState("1-5");
  const [strategy, setStrategy] = useState("fifo");
  const [gpus, setGpus] = useState("");
  const edit: Edit =
    kind === "child" ? { kind, quota, on, priorities } : kind === "self" ? { kind, quota, on, high, low } : kind === "strategy" ? { kind, quota, strategy } : { kind, quota, gpus };
  const wrong = editProblem(edit);
  return (
    <fieldset className="plainset stack tight">
      <legend>Change of the tree</legend>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <NativeSelect label="Quota" value={quota} data={quotas} onChange={(e) => setQuota(e.currentTarget.value)} />
        <NativeSelect label="What" value={kind} data={KINDS} onChange={(e) => setKind(e.currentTarget.value as "child")} />
        {kind === "child" || kind === "self" ? <Switch label={on ? "on" : "off"} checked={on} onChange={(e) => setOn(e.currentTarget.checked)} /> : null}
        {kind === "child" && on ? <TextInput label="Priorities" value={priorities} onChange={(e) => setPriorities(e.currentTarget.value)} style={{ width: 90 }} /> : null}
        {kind === "self" && on ? <TextInput label="High" value={high} onChange={(e) => setHigh(e.currentTarget.value)} style={{ width: 80 }} /> : null}
        {kind === "self" && on ? <TextInput label="Low" value={low} onChange={(e) => setLow(e.currentTarget.value)} style={{ width: 80 }} /> : null}
        {kind === "strategy" ? <NativeSelect label="Strategy" value={strategy} data={["fifo", "traverse", "balance", "intelligent"]} onChange={(e) => setStrategy(e.currentTarget.value)} /> : null}
        {kind === "scale" ? <TextInput label="GPUs" value={gpus} inputMode="numeric" onChange={(e) => setGpus(e.currentTarget.value)} style={{ width: 90 }} /> : null}
        <Button variant="default" disabled={wrong !== null} onClick={() => onAdd(edit)}>
          Add
        </Button>
      </div>
      {wrong === null ? null : <div className="bad small" role="alert">{wrong}</div>}
    </fieldset>
  );
}
