// Is the server away, or is it a newer one than these files are of? What was asked for meanwhile waits until it comes.
import { useSyncExternalStore } from "react";
import { pauseMs } from "./sse";

/** "newer": its pages are of another build, so that this page must be loaded anew to open what was not loaded yet. */
export type Server = "there" | "away" | "newer";

const OFTEN = 3;
const LONGEST_ATTEMPT = 3; // 8 s: a reader is looking
const ANEW = "quotatree-anew";
const ANEW_MS = 30_000;

const listeners = new Set<() => void>();
let server: Server = "there";
let asking: Promise<void> | undefined;

function become(next: Server): void {
  server = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useServer(): Server {
  return useSyncExternalStore(subscribe, () => server);
}

/** What `load` brings, however often it has to be tried. Of a newer server nothing comes: the page must be loaded anew. */
export async function untilLoaded<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await load();
    } catch {
      if (attempt === OFTEN) become("newer"); // browsers may remember that a script could not be had: only a new page helps
      if (attempt > 0) await pause(attempt);
      await untilThere();
    }
  }
}

/** Resolves when the server answers with a page of the build that this page is of. All who wait share one question. */
export function untilThere(): Promise<void> {
  asking ??= ask().finally(() => (asking = undefined));
  return asking;
}

async function ask(): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const page = await frontPage();
    if (page !== null) {
      const same = isOfThisBuild(page);
      become(same ? "there" : "newer");
      return same ? undefined : new Promise(() => undefined);
    }
    become("away");
    await pause(attempt);
  }
}

async function frontPage(): Promise<string | null> {
  try {
    const answer = await fetch("/", { headers: { Accept: "text/html" }, cache: "no-store", credentials: "omit" });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

function isOfThisBuild(page: string): boolean {
  const entry = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.getAttribute("src");
  return entry === null || entry === undefined || page.includes(entry);
}

const pause = (attempt: number) => new Promise((done) => setTimeout(done, pauseMs(Math.min(attempt, LONGEST_ATTEMPT))));

/** Opens an address with the files that the server has now; not again and again if even that does not help. */
export function loadAnew(address: string): void {
  const last = Number(sessionStorage.getItem(ANEW));
  if (Date.now() - last < ANEW_MS) return;
  sessionStorage.setItem(ANEW, String(Date.now()));
  window.location.assign(address);
}
