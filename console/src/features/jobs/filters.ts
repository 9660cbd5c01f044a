// Which jobs are asked for? Everything stands in the address, so that a view can be kept and sent on.

export type JobSearch = {
  phase?: string;
  module?: string;
  quota?: string;
  workspace?: string;
  owner?: string;
  priority?: string;
  part?: string;
  below?: boolean;
  sort?: string;
};

export const SEARCH_NAMES = ["phase", "module", "quota", "workspace", "owner", "priority", "part", "sort"] as const;

/** The parameters of the API for a search: lists are written with commas. */
export function asked(search: JobSearch): Record<string, unknown> {
  const list = (text: string | undefined) => text?.split(",").filter((one) => one !== "");
  const found: Record<string, unknown> = { positions: true, total: true };
  const add = (name: string, value: unknown) => {
    if (value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)) found[name] = value;
  };
  if (search.phase === "active") found["active"] = true;
  else add("phase", list(search.phase));
  add("module", list(search.module));
  add("quota", list(search.quota));
  add("workspace", list(search.workspace));
  add("owner", list(search.owner));
  add("priority", list(search.priority)?.flatMap(priorities));
  add("part", search.part?.toLowerCase().replace(/[^-a-z0-9.]/g, "").slice(0, 63));
  add("sort", search.sort);
  if (search.below) found["below"] = true;
  return found;
}

/** "7-9" → 7, 8, 9. What is no priority is left out. */
function priorities(text: string): number[] {
  const [from = NaN, to = from] = text.split("-").map(Number);
  if (!(from >= 1 && to <= 9)) return [];
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, step) => from + step);
}
