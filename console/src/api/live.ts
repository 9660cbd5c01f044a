// One stream of events for all windows of a browser: the one that holds a lock reads, and tells the others.
import { send } from "./client";
import { pauseMs, readMessages } from "./sse";

export type LiveState = { connected: boolean; sinceMs: number; lastMs: number };
export type LiveEvent = { seq: number; kind: string; job: string | null; quota: string | null; workspace: string | null };
type Told = { type: "event"; event: LiveEvent } | { type: "state"; state: LiveState } | { type: "healed" } | { type: "who" };

const SILENCE_MS = 35_000;
const LOCK = "quotatree-live";

export class Live {
  private state: LiveState = { connected: true, sinceMs: Date.now(), lastMs: Date.now() };
  private readonly channel = new BroadcastChannel(LOCK);
  private readonly listeners = new Set<() => void>();
  private readonly ended = new AbortController();
  private leads = false;
  private lastId: string | undefined;

  constructor(
    private readonly onEvent: (event: LiveEvent) => void,
    private readonly onHealed: () => void,
  ) {
    this.channel.onmessage = (message: MessageEvent<Told>) => this.hear(message.data);
    this.channel.postMessage({ type: "who" } satisfies Told);
    void this.lead();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  current = (): LiveState => this.state;

  stop(): void {
    this.ended.abort();
    this.channel.close();
  }

  private async lead(): Promise<void> {
    const read = async () => {
      this.leads = true;
      for (let attempt = 0; !this.ended.signal.aborted; attempt++) {
        const opened = await this.read();
        if (this.ended.signal.aborted) return;
        if (opened) attempt = 0;
        this.tell(false);
        await new Promise((done) => setTimeout(done, pauseMs(attempt)));
      }
    };
    if (!("locks" in navigator)) return read(); // only over https and on this machine
    try {
      await navigator.locks.request(LOCK, { signal: this.ended.signal }, read);
    } catch {
      // the window is closed, or has signed out
    }
  }

  /** Reads one stream until it ends or falls silent. True if it was opened. */
  private async read(): Promise<boolean> {
    const silent = new AbortController();
    const signal = AbortSignal.any([this.ended.signal, silent.signal]);
    let timer = setTimeout(() => silent.abort(), SILENCE_MS);
    let opened = false;
    try {
      const after = this.lastId === undefined ? "" : `?after=${this.lastId}`;
      const response = await send("get", `/api/v1/events/stream${after}`, undefined, undefined, signal);
      if (!response.ok || response.body === null) return false;
      opened = true;
      const again = !this.state.connected;
      this.tell(true);
      if (again) this.healed();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let buffer = ""; ; ) {
        const { done, value } = await reader.read();
        if (done) return opened;
        clearTimeout(timer);
        timer = setTimeout(() => silent.abort(), SILENCE_MS);
        const { messages, rest } = readMessages(buffer + value);
        buffer = rest;
        this.state = { ...this.state, lastMs: Date.now() };
        for (const one of messages) {
          this.lastId = one.id ?? this.lastId;
          const event = JSON.parse(one.data) as LiveEvent;
          this.onEvent({ ...event, kind: one.kind });
          this.channel.postMessage({ type: "event", event: { ...event, kind: one.kind } } satisfies Told);
        }
      }
    } catch {
      return opened;
    } finally {
      clearTimeout(timer);
    }
  }

  private hear(told: Told): void {
    if (told.type === "event") this.onEvent(told.event);
    else if (told.type === "healed") this.onHealed();
    else if (told.type === "state") this.show(told.state);
    else if (this.leads) this.channel.postMessage({ type: "state", state: this.state } satisfies Told);
  }

  private healed(): void {
    this.onHealed();
    this.channel.postMessage({ type: "healed" } satisfies Told);
  }

  private tell(connected: boolean): void {
    const now = Date.now();
    const state = { connected, sinceMs: connected === this.state.connected ? this.state.sinceMs : now, lastMs: connected ? now : this.state.lastMs };
    this.show(state);
    if (!this.ended.signal.aborted) this.channel.postMessage({ type: "state", state } satisfies Told);
  }

  private show(state: LiveState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}
