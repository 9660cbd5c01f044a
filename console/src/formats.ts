// How are amounts, durations and moments written? One way everywhere: units said, unknown "–", zero "0".

export const UNKNOWN = "–";

// Made once: a formatter is dear to make, and a table of jobs uses three in each row.
const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });
const moments = new Map<string, Intl.DateTimeFormat>();

type Part = "minute" | "time" | "date" | "day" | "year";
const HAS_CLOCK: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const HAS_DATE: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
const PARTS: Record<Part, Intl.DateTimeFormatOptions> = {
  minute: HAS_CLOCK,
  time: { ...HAS_CLOCK, second: "2-digit" },
  date: HAS_DATE,
  day: { ...HAS_CLOCK, ...HAS_DATE },
  year: { ...HAS_CLOCK, ...HAS_DATE, year: "numeric" },
};

function momentFormat(part: Part, zone: string | undefined): Intl.DateTimeFormat {
  const key = `${part} ${zone ?? ""}`;
  const known = moments.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", { ...PARTS[part], ...(zone === undefined ? {} : { timeZone: zone }) });
  moments.set(key, made);
  return made;
}

/** A number of GPUs with at most three decimals, thousands apart: 12, 0.5, 1,024. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  return NUMBER.format(value);
}

export function gpus(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : `${number(value)} GPU`;
}

/** "40/48 GPU". */
export function share(part: number | undefined, whole: number | undefined): string {
  return `${number(part ?? 0)}/${number(whole)} GPU`;
}

/** Work in GPU-seconds: "332 GPU-s", and from one GPU-hour on "1.4 GPU-h". */
export function work(gpuSeconds: number | null | undefined): string {
  if (gpuSeconds === null || gpuSeconds === undefined) return UNKNOWN;
  if (gpuSeconds < 3600) return `${number(Math.round(gpuSeconds))} GPU-s`;
  return `${gpuHours(gpuSeconds / 3600)} GPU-h`;
}

export function gpuHours(hours: number): string {
  const decimals = hours >= 100 ? 0 : 1;
  return hours.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A length of time in its two largest units at most: "8 s", "12 min", "3 h 20 min", "2 d 4 h". */
export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return UNKNOWN;
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const DAY_MS = 86_400_000;

/** A moment in the reader's zone: "07:08:12" within a day, then "16 Nov 07:08", then with the year. */
export function moment(atMs: number | null | undefined, nowMs: number, zone?: string): string {
  if (atMs === null || atMs === undefined) return UNKNOWN;
  const apart = Math.abs(nowMs - atMs);
  if (apart < DAY_MS) return momentFormat("time", zone).format(atMs);
  return momentFormat(apart > 300 * DAY_MS ? "year" : "day", zone).format(atMs).replace(",", "");
}

/** A moment on an axis whose ticks stand `apartMs` apart: "07:00", with seconds where they are close, and the date where a day begins. */
export function tickMoment(atMs: number, apartMs: number, zone?: string): string {
  if (apartMs < 60_000) return momentFormat("time", zone).format(atMs);
  const clock = momentFormat("minute", zone).format(atMs);
  return apartMs >= DAY_MS || clock === "00:00" ? momentFormat("date", zone).format(atMs) : clock;
}

/** The whole moment with its zone, for a title. */
export function fullMoment(atMs: number): string {
  return FULL.format(atMs);
}

/** "1 job", "3 jobs". */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${number(amount)} ${amount === 1 ? one : many}`;
}

/** 1 → "1st": a place in a queue. */
export function ordinal(place: number): string {
  const tens = place % 100;
  if (tens >= 11 && tens <= 13) return `${place}th`;
  return `${place}${["th", "st", "nd", "rd"][place % 10] ?? "th"}`;
}
