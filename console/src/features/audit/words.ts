// What stands in the body of an audit entry, in words: amounts, changes, and what else was said.
import { number } from "../../formats";

type Body = Record<string, unknown>;

const KINDS: [string, number][] = [["GPU", 1000], ["CPU", 1000], ["GiB", 1024]];

/** [8000, null, 65536], thousandths of GPUs and CPUs and MiB, as "8 GPU, 64 GiB". */
export function amountWords(amounts: unknown): string {
  const given = Array.isArray(amounts) ? (amounts as (number | null)[]) : [];
  const said = KINDS.flatMap(([unit, per], place) => {
    const amount = given[place];
    return typeof amount === "number" && (amount !== 0 || place === 0) ? [`${number(amount / per)} ${unit}`] : [];
  });
  return said.length === 0 ? "no bound" : said.join(", ");
}

type Change = { what: string; before: string; after: string };

/** ": strategy fifo → balance; name → Vision", or "" where nothing is told. */
export function changeWords(body: Body): string {
  const changes = Array.isArray(body["changes"]) ? (body["changes"] as Change[]) : [];
  return changes.length === 0 ? detailWords(body) : `: ${changes.map((one) => `${one.what.replaceAll("_", " ")} ${one.before} → ${one.after}`).join("; ")}`;
}

/** ": role developer, user eve": what is said in single words or numbers. */
export function detailWords(body: Body): string {
  const said = Object.entries(body).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.filter((one) => typeof one === "string").join(" ") : value;
    if (text === null || text === "" || text === false || typeof text === "object") return [];
    return [`${name.replaceAll("_", " ")}${text === true ? "" : ` ${String(text)}`}`];
  });
  return said.length === 0 ? "" : `: ${said.join(", ")}`;
}

type Entry = { seq: number; action: string; target: string; body: Body };

/** The entries without the second of the two that a transfer leaves: one for each quota, with the same sentence. */
export function eachOnce<T extends Entry>(entries: readonly T[]): T[] {
  const known = new Map(entries.map((one) => [one.seq, one]));
  return entries.filter((one) => {
    const other = known.get(one.seq + 1);
    return !(one.body["source"] !== undefined && other?.body["target"] !== undefined && other.target === `quota:${String(one.body["source"])}`);
  });
}
