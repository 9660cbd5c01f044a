// When will a waiting job start, in words?
import type { Estimate } from "../../api/types";
import { duration } from "../../formats";

/** "starts in about 40 min, between 20 min and 2 h", or why that cannot be told. */
export function estimateWords(told: Estimate, nowMs: number): string {
  if (told.likely_ms === null) return `When it will start cannot be told: ${told.why}`;
  const from = (atMs: number) => duration(atMs - nowMs);
  const { earliest_ms: earliest, latest_ms: latest } = told;
  const range =
    earliest !== null && latest !== null ? `, between ${from(earliest)} and ${from(latest)}` : earliest !== null ? `, not before ${from(earliest)}` : latest !== null ? `, within ${from(latest)}` : "";
  return `Starts in about ${from(told.likely_ms)}${range}`;
}
