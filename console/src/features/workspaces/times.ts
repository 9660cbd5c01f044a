// The longest run or wait: one time for all modules, or one for each, as text and back.

export type Times = string | Record<string, string> | null;

/** "24h", or "DLC 24h, DSW 8h". */
export function writeTimes(times: Times | undefined): string {
  if (times === null || times === undefined) return "";
  if (typeof times === "string") return times;
  return Object.entries(times).map(([module, time]) => `${module} ${time}`).join(", ");
}

/** The other way round; empty means no bound. */
export function readTimes(text: string): Times {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const pairs = [...trimmed.matchAll(/(DLC|DSW|EAS)\s*[:=]?\s*([0-9a-z.]+)/gi)];
  if (pairs.length === 0) return trimmed;
  return Object.fromEntries(pairs.map((pair) => [(pair[1] ?? "").toUpperCase(), pair[2] ?? ""]));
}
