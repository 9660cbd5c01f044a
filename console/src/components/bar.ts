// Which pieces has the bar of a quota? All in GPUs, from 0; the bar itself ends at what the quota has.

export type Figures = {
  min: number;
  desired: number;
  usedOwn: number;
  usedBelow: number;
  idleLent: number;
  squeezed: number;
  reserved: number;
  shortfall: number;
  queued: number;
  /** What waits at the quotas below; no piece of the bar, which shows what waits for this quota alone. */
  queuedBelow: number;
};

export type Kind = "own" | "below" | "loan" | "idle" | "squeezed" | "free" | "short" | "queued";
export type Segment = { kind: Kind; from: number; to: number };

/** The pieces in the order they are drawn; empty ones are left out. */
export function segments(figures: Figures): Segment[] {
  const { min } = figures;
  const used = figures.usedOwn + figures.usedBelow;
  const inside = Math.min(used, min);
  const own = Math.min(figures.usedOwn, inside);
  const squeezedFrom = Math.max(inside, min - figures.squeezed);
  const shortFrom = Math.max(inside, Math.min(squeezedFrom, min - figures.shortfall));
  const lentTo = Math.min(inside + figures.idleLent, shortFrom);
  const end = Math.max(min, used);
  const all: Segment[] = [
    { kind: "own", from: 0, to: own },
    { kind: "below", from: own, to: inside },
    { kind: "loan", from: min, to: used },
    { kind: "idle", from: inside, to: lentTo },
    { kind: "free", from: lentTo, to: shortFrom },
    { kind: "short", from: shortFrom, to: squeezedFrom },
    { kind: "squeezed", from: squeezedFrom, to: min },
    { kind: "queued", from: end, to: end + figures.queued },
  ];
  return all.filter((one) => one.to > one.from);
}

const GHOST_SHARE = 0.18;

/** The largest amount that the rows of one tree must show: their ends, and a part of what is queued. */
export function scaleOf(rows: readonly Figures[]): number {
  let most = 1;
  for (const row of rows) {
    const end = Math.max(row.min, row.desired, row.usedOwn + row.usedBelow);
    most = Math.max(most, end + Math.min(row.queued, end * GHOST_SHARE));
  }
  return most;
}

/** What a screen reader says, and the title of a bar. */
export function spoken(figures: Figures): string {
  const used = figures.usedOwn + figures.usedBelow;
  const parts = [`${used} of ${figures.min} GPU used`];
  if (figures.usedBelow > 0) parts.push(`own ${figures.usedOwn}, below ${figures.usedBelow}`);
  if (used > figures.min) parts.push(`loan ${used - figures.min}`);
  for (const [name, value] of [
    ["idle lent", figures.idleLent],
    ["squeezed", figures.squeezed],
    ["reserved", figures.reserved],
    ["missing", figures.shortfall],
    ["queued", figures.queued],
    ["queued below", figures.queuedBelow],
  ] as const)
    if (value > 0) parts.push(`${name} ${value}`);
  if (figures.desired !== figures.min) parts.push(`going to ${figures.desired}`);
  return parts.join(", ");
}

type Usage = {
  desired: { gpus?: number };
  actual: { gpus?: number };
  used_own: { gpus?: number };
  used_below: { gpus?: number };
  idle_lent: { gpus?: number };
  squeezed: { gpus?: number };
  shortfall: { gpus?: number };
  queued: { gpus?: number };
  queued_below: { gpus?: number };
  free: { gpus?: number };
};

/** The figures of a quota as the API tells them. A quota that names no GPUs ends where its use does. */
export function figuresOf(usage: Usage, reserved: { gpus?: number } | undefined): Figures {
  const used = (usage.used_own.gpus ?? 0) + (usage.used_below.gpus ?? 0);
  const min = usage.actual.gpus ?? used + (usage.free.gpus ?? 0);
  return {
    min,
    desired: usage.desired.gpus ?? min,
    usedOwn: usage.used_own.gpus ?? 0,
    usedBelow: usage.used_below.gpus ?? 0,
    idleLent: usage.idle_lent.gpus ?? 0,
    squeezed: usage.squeezed.gpus ?? 0,
    reserved: reserved?.gpus ?? 0,
    shortfall: usage.shortfall.gpus ?? 0,
    queued: usage.queued.gpus ?? 0,
    queuedBelow: usage.queued_below.gpus ?? 0,
  };
}
