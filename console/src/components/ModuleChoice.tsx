// Which of the three modules?
import { Checkbox } from "@mantine/core";
import { MODULES } from "../api/types";

export function ModuleChoice({ label, value, onChange, error }: { label: string; value: readonly string[]; onChange: (value: string[]) => void; error?: string | undefined }) {
  const toggle = (module: string, on: boolean) => onChange(MODULES.filter((one) => (one === module ? on : value.includes(one))));
  return (
    <fieldset className="plainset">
      <legend>{label}</legend>
      <div className="row">
        {MODULES.map((module) => (
          <Checkbox key={module} label={module} checked={value.includes(module)} onChange={(e) => toggle(module, e.currentTarget.checked)} />
        ))}
      </div>
      {error === undefined ? null : (
        <div className="bad small" role="alert">
          {error}
        </div>
      )}
    </fieldset>
  );
}
