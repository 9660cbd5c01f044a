// One self-level policy (P1): who may take whom, in which quotas.
import { Checkbox, NativeSelect, Switch, TextInput } from "@mantine/core";
import { ModuleChoice } from "../../components/ModuleChoice";
import { pairProblem } from "../../pairs";
import type { SelfDraft } from "./draft";

type Props = { value: SelfDraft; place: number; wrong: Record<string, string>; onChange: (next: SelfDraft | null) => void };

export function SelfLevelForm({ value, place, wrong, onChange }: Props) {
  const pair = wrong[`self.${place}`];
  const instead = pair === undefined ? undefined : pairProblem(value.high, value.low)?.instead;
  const set = (part: Partial<SelfDraft>) => onChange({ ...value, ...part });
  return (
    <fieldset className="plainset stack">
      <legend className="visually-hidden">Self-level policy {place + 1}</legend>
      <div className="row apart">
        <Switch label="Self-level preemption" checked={value.enabled} onChange={(e) => set({ enabled: e.currentTarget.checked })} />
        <button type="button" className="linkish small" onClick={() => onChange(null)}>
          Remove
        </button>
      </div>
      <Checkbox label="Every priority may take every lower one" checked={value.any} onChange={(e) => set({ any: e.currentTarget.checked })} />
      {value.any ? null : (
        <div className="stack tight">
          <div className="row" style={{ alignItems: "flex-start" }}>
            <TextInput label="High: may take" value={value.high} onChange={(e) => set({ high: e.currentTarget.value })} error={pair !== undefined} style={{ width: 130 }} />
            <TextInput label="Low: may be taken" value={value.low} onChange={(e) => set({ low: e.currentTarget.value })} error={pair !== undefined} style={{ width: 130 }} />
          </div>
          {pair === undefined ? null : (
            <div className="bad small" role="alert">
              ✗ {pair}
              {instead === undefined ? null : (
                <>
                  {" "}
                  <button type="button" className="linkish" onClick={() => set(instead)}>
                    Write that
                  </button>
                </>
              )}
            </div>
          )}
        </div>
      )}
      <ModuleChoice label="Modules that may be taken" value={value.modules} error={wrong[`self.${place}.modules`]} onChange={(modules) => set({ modules })} />
      <NativeSelect
        label="From"
        value={value.scope}
        data={[
          { value: "level", label: "own quota and siblings" },
          { value: "own", label: "own quota only" },
          { value: "siblings", label: "siblings only" },
        ]}
        onChange={(e) => set({ scope: e.currentTarget.value })}
      />
      <hr style={{ border: 0, borderTop: "1px solid var(--line)", width: "100%" }} />
    </fieldset>
  );
}
