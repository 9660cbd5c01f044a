// Is a self-level policy valid (P1), and what is wrong with it? Said while it is typed, in words that tell what to do.

export type Range = { from: number; to: number };

const LOWEST = 1;
const HIGHEST = 9;

/** "6-9", "4" or "1,2,3" as a range; null if it is none. A list must have no gaps. */
export function readRange(text: string): Range | null {
  const single = /^\s*(\d+)\s*$/.exec(text);
  if (single) return within(Number(single[1]), Number(single[1]));
  const range = /^\s*(\d+)\s*[-–]\s*(\d+)\s*$/.exec(text);
  if (range) return within(Number(range[1]), Number(range[2]));
  const list = text.split(",").map((one) => Number(one.trim()));
  if (list.length > 1 && list.every((one, place) => Number.isInteger(one) && (place === 0 || one === (list[place - 1] ?? 0) + 1)))
    return within(list[0] ?? 0, list[list.length - 1] ?? 0);
  return null;
}

function within(from: number, to: number): Range | null {
  return from >= LOWEST && to <= HIGHEST && from <= to ? { from, to } : null;
}

export function writeRange(range: Range): string {
  return range.from === range.to ? String(range.from) : `${range.from}-${range.to}`;
}

/** What is wrong with one range; null if nothing is. */
export function rangeProblem(text: string): string | null {
  if (text.trim() === "") return "give a priority from 1 to 9, or a range such as 6-9";
  if (readRange(text) !== null) return null;
  const numbers = text.match(/\d+/g)?.map(Number) ?? [];
  if (numbers.some((one) => one < LOWEST || one > HIGHEST)) return "priorities go from 1 to 9";
  if (numbers.length === 2 && (numbers[0] ?? 0) > (numbers[1] ?? 0)) return `write ${numbers[1]}-${numbers[0]}: the smaller number first`;
  return "give a priority from 1 to 9, or a range such as 6-9";
}

export type Pair = { high: string; low: string };

/** What is wrong with a pair, and a valid one that is close to it where both are ranges: all of low must be below all of high. */
export function pairProblem(high: string, low: string): { text: string; instead?: Pair } | null {
  const wrong = rangeProblem(high);
  if (wrong !== null) return { text: `high: ${wrong}` };
  const lowWrong = rangeProblem(low);
  if (lowWrong !== null) return { text: `low: ${lowWrong}` };
  const top = readRange(high);
  const bottom = readRange(low);
  if (top === null || bottom === null || bottom.to < top.from) return null;
  const instead = nearest(top, bottom);
  return { text: `low ${bottom.to} reaches high ${top.from}: ${instead.high} over ${instead.low} would do`, instead };
}

/** The valid pair that keeps most: low ends earlier, else high begins later, else both give way, else high is all that is above low. */
function nearest(top: Range, bottom: Range): Pair {
  const pair = (high: Range, low: Range): Pair => ({ high: writeRange(high), low: writeRange(low) });
  if (bottom.from < top.from) return pair(top, { from: bottom.from, to: top.from - 1 });
  if (bottom.to < top.to) return pair({ from: bottom.to + 1, to: top.to }, bottom);
  const from = Math.min(top.from, bottom.from);
  const to = Math.max(top.to, bottom.to);
  if (from < to) {
    const middle = Math.floor((from + to) / 2);
    return pair({ from: middle + 1, to }, { from, to: middle });
  }
  return from === HIGHEST ? pair(top, { from: LOWEST, to: HIGHEST - 1 }) : pair({ from: from + 1, to: HIGHEST }, bottom);
}
