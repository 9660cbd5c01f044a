// Policies and changes of a quota in words.
import type { ChildLevel, SelfLevel } from "../../api/types";
import { count } from "../../formats";

export function childLevelWords(policy: ChildLevel | null): string {
  return policy === null ? "off: nothing set" : `${policy.priorities} ${policy.modules.join(" ")}`;
}

const SCOPES: Record<string, string> = { own: "own quota", siblings: "siblings", level: "own quota and siblings" };

export function selfLevelWords(policy: SelfLevel): string {
  const pair = policy.any === undefined ? `${policy.high ?? ""} over ${policy.low ?? ""}` : "every priority over every lower one";
  return `${pair} · ${policy.modules.join(" ")} · ${SCOPES[policy.scope] ?? policy.scope}`;
}

export const STRATEGIES: Record<string, string> = {
  intelligent: "7-9 strict, below that whoever fits, with ageing",
  fifo: "strictly first in, first out",
  traverse: "whoever fits, in order",
  balance: "first in, first out, then whoever fits",
};

/** How many jobs wait at a quota, and how many at those below it: "2 jobs wait here, 1 job waits below". */
export function waitingWords(here: number, below: number): string {
  if (here + below === 0) return "no job waits";
  const own = here === 0 ? "no job waits here" : `${count(here, "job waits", "jobs wait")} here`;
  return below === 0 ? own : `${own}, ${count(below, "job waits", "jobs wait")} below`;
}

interface Change {
  what: string;
  before: string;
  after: string;
}

/** What an event of a quota's history did, in a few words: what changed from what to what, where that is kept. */
export function historyWords(kind: string, body: Record<string, unknown>): string {
  const verb = kind.split(".")[1]?.replaceAll("_", " ") ?? kind;
  const changes = Array.isArray(body["changes"]) ? (body["changes"] as Change[]) : [];
  if (changes.length > 0) {
    return `${verb}: ${changes.map((one) => `${one.what.replaceAll("_", " ")} ${one.before} → ${one.after}`).join("; ")}`;
  }
  const facts = Object.entries(body)
    .filter(([name, value]) => !["by", "actor", "quota"].includes(name) && value !== null && typeof value !== "object")
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`);
  return facts.length === 0 ? verb : `${verb}: ${facts.join(", ")}`;
}
