// The present time, told to all who show it by one clock.
import { useSyncExternalStore } from "react";

const EVERY_MS = 5_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Milliseconds since 1970, anew every few seconds; `round` makes fewer changes of it. */
export function useNow(roundMs = EVERY_MS): number {
  return useSyncExternalStore(subscribe, () => Math.max(now, 0) - (now % roundMs) + roundMs);
}
