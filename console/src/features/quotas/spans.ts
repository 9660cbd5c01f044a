// How far back is looked, and how a moment is written on an axis of that length?

export const SPANS = ["1h", "6h", "24h", "7d", "30d", "90d"] as const;
export type SpanName = (typeof SPANS)[number];

const HOUR_MS = 3_600_000;
const LENGTHS: Record<SpanName, number> = { "1h": HOUR_MS, "6h": 6 * HOUR_MS, "24h": 24 * HOUR_MS, "7d": 168 * HOUR_MS, "30d": 720 * HOUR_MS, "90d": 2160 * HOUR_MS };

export function spanOf(text: string | undefined, otherwise: SpanName): SpanName {
  return SPANS.find((one) => one === text) ?? otherwise;
}

export function lengthMs(span: SpanName): number {
  return LENGTHS[span];
}

/** "6h" → "6 hours". */
export function spanWords(span: SpanName): string {
  const amount = Number(span.slice(0, -1));
  const unit = span.endsWith("h") ? "hour" : "day";
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}
