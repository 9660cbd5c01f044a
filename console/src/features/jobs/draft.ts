// A job while it is written: texts as typed, what is wrong with them, and what is sent.

export type JobDraft = {
  workspace: string;
  quota: string;
  name: string;
  module: string;
  priority: string;
  replicas: string;
  gpus: string;
  minReplicas: string;
  idle: string;
  program: string;
};

export const NEW_JOB: JobDraft = { workspace: "", quota: "", name: "", module: "DLC", priority: "1", replicas: "1", gpus: "8", minReplicas: "", idle: "never", program: "" };

const whole = (text: string, least: number) => /^\d+$/.test(text.trim()) && Number(text) >= least;

/** What is wrong, by field; empty if it may be sent. */
export function problems(draft: JobDraft): Record<string, string> {
  const found: Record<string, string> = {};
  if (draft.name !== "" && !/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(draft.name)) found["name"] = "small letters, digits, dots and dashes; up to 63";
  if (!whole(draft.replicas, 1)) found["replicas"] = "a whole number, at least 1";
  const gpus = Number(draft.gpus);
  if (draft.gpus.trim() === "" || !(gpus >= 0)) found["gpus"] = "a number of GPUs; 0 is allowed";
  else if (!Number.isInteger(gpus) && (gpus > 1 || !Number.isInteger(Math.round(gpus * 1e6) / 1e3))) found["gpus"] = "whole GPUs, or a part of one such as 0.25 (R1)";
  if (draft.minReplicas !== "" && (!whole(draft.minReplicas, 1) || Number(draft.minReplicas) > Number(draft.replicas))) found["minReplicas"] = `a whole number from 1 to ${draft.replicas}`;
  if (draft.program.trim().startsWith("{") && readJson(draft.program) === null) found["program"] = "this begins like JSON but is none";
  return found;
}

/** The body of the request. */
export function bodyOf(draft: JobDraft): Record<string, unknown> {
  return {
    workspace: draft.workspace,
    quota: draft.quota,
    ...(draft.name === "" ? {} : { name: draft.name }),
    module: draft.module,
    priority: Number(draft.priority),
    groups: [{ replicas: Number(draft.replicas), gpus: Number(draft.gpus) }],
    ...(draft.minReplicas === "" ? {} : { min_replicas: Number(draft.minReplicas) }),
    idle: draft.idle,
    program: programOf(draft.program),
  };
}

function programOf(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  return readJson(trimmed) ?? { command: trimmed.split("\n").map((line) => line.trim()) };
}

function readJson(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
