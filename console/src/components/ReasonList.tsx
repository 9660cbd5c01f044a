// Why, in the server's own sentences: one object everywhere, with the rules behind it.
import type { Reason } from "../api/types";

export function ReasonLine({ reason }: { reason: Reason }) {
  return (
    <span>
      {capital(reason.text)} <Rules rules={reason.rules} />
    </span>
  );
}

export function Rules({ rules }: { rules: readonly string[] }) {
  if (rules.length === 0) return null;
  return (
    <span className="dim small nowrap" title="numbers of the rulebook: quotatree rule N">
      {rules.join(" ")}
    </span>
  );
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const STEPS: Record<string, string> = {
  free: "free capacity",
  idle: "idle borrowers",
  loan: "loan on siblings",
  return: "return of loans",
  own: "own quota",
  descendants: "quotas below",
  "siblings-above-min": "siblings above min",
  siblings: "siblings",
};

/** A step of P4 in words; the API writes it in capitals or small letters. */
export function stepName(step: string): string {
  const key = step.toLowerCase().replaceAll("_", "-");
  return STEPS[key] ?? key;
}

export function Tried({ tried }: { tried: readonly { step: string; reason: Reason }[] }) {
  if (tried.length === 0) return <span className="dim">Nothing had to be tried.</span>;
  return (
    <ol className="stack tight" style={{ margin: 0, paddingLeft: 18 }}>
      {tried.map((one, place) => (
        <li key={place}>
          <span className="strong">{stepName(one.step)}</span> <span className="bad" aria-label="failed">✗</span> <ReasonLine reason={one.reason} />
        </li>
      ))}
    </ol>
  );
}
