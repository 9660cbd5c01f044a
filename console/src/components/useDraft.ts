// Something with a version while it is edited: what it was when the reader began, what it is now, what they want.
import { useState } from "react";
import { isConflict } from "../api/problems";
import { useChange } from "../api/shared";

type Props<T, D> = {
  /** What the server has, as far as is known: it follows the stream. */
  now: T;
  version: (of: T) => unknown;
  read: (of: T) => D;
  send: (base: T, draft: D) => Promise<unknown>;
  stale: readonly (readonly unknown[])[];
  done?: () => void;
  /** What is wanted from the beginning, before anything is typed. */
  began?: D;
};

/** Until something is typed the draft follows the server; from then on it stays, with the version that it began from. */
export function useDraft<T, D>({ now, version, read, send, stale, done, began }: Props<T, D>) {
  const [held, setHeld] = useState<{ base: T; draft: D } | null>(began === undefined ? null : { base: now, draft: began });
  const [refused, setRefused] = useState(false);
  const { base, draft } = held ?? { base: now, draft: read(now) };
  const change = useChange(
    (mine: { base: T; draft: D }) => send(mine.base, mine.draft),
    stale,
    () => {
      setHeld(null);
      done?.();
    },
  );
  const older = version(now) !== version(base);
  const clash = older && (refused || isConflict(change.error));
  const begin = (from: T, next: D | null) => {
    setHeld(next === null ? null : { base: from, draft: next });
    setRefused(false);
    change.reset();
  };
  return {
    base,
    draft,
    clash,
    error: clash ? null : change.error,
    pending: change.isPending,
    set: (next: D) => setHeld({ base, draft: next }),
    /** Sends the draft. What is known to be made from an older version is not sent: it would be refused. */
    save: () => {
      setHeld({ base, draft });
      setRefused(older);
      if (older) change.reset();
      else change.mutate({ base, draft });
    },
    takeTheirs: () => begin(now, null),
    goOn: () => begin(now, draft),
    /** Sends this at once, from what is there now: for switches, which have nothing to be typed. */
    act: (next: D) => {
      begin(now, next);
      change.mutate({ base: now, draft: next });
    },
  };
}
