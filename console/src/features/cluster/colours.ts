// Which colour has a GPU, by what the reader wants to see?

export type Device = { index: number; job: string | null; name: string | null; quota: string | null; priority: number | null; module: string | null; owner: string | null; state: "free" | "busy" | "leaving" | "ill" };
export type By = "quota" | "priority" | "module" | "owner";
export const BYS: readonly By[] = ["quota", "priority", "module", "owner"];

const HUES = [212, 28, 160, 280, 340, 190, 60, 120, 300, 0, 240, 90];

/** Colours by name: the same name has the same colour as long as the names are the same. */
export function palette(names: readonly string[], dark: boolean): Map<string, string> {
  const sorted = [...new Set(names)].sort();
  return new Map(sorted.map((name, place) => [name, colour(place, dark)]));
}

function colour(place: number, dark: boolean): string {
  const hue = HUES[place % HUES.length] ?? 0;
  const round = Math.floor(place / HUES.length) % 3;
  return `hsl(${hue} ${dark ? 55 : 52}% ${(dark ? 62 : 42) + (dark ? -round : round) * 10}%)`;
}

/** What a device is coloured by; null: nobody is on it. */
export function valueOf(device: Device, by: By): string | null {
  if (device.state === "free" || device.state === "ill") return null;
  const value = device[by];
  return value === null ? "others" : String(value);
}
