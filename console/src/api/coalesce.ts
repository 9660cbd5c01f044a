// How often may one key be asked anew? At once, then at most once a second, however many events come.
type Timer = ReturnType<typeof setTimeout>;

export class Coalescer {
  private readonly waiting = new Map<string, { timer: Timer; again: boolean }>();

  constructor(
    private readonly act: (key: readonly unknown[]) => void,
    private readonly pauseMs = 1000,
  ) {}

  push(key: readonly unknown[]): void {
    const name = JSON.stringify(key);
    const found = this.waiting.get(name);
    if (found !== undefined) {
      found.again = true;
      return;
    }
    this.act(key);
    this.rest(name, key);
  }

  private rest(name: string, key: readonly unknown[]): void {
    const timer = setTimeout(() => {
      const again = this.waiting.get(name)?.again ?? false;
      this.waiting.delete(name);
      if (!again) return;
      this.act(key);
      this.rest(name, key);
    }, this.pauseMs);
    this.waiting.set(name, { timer, again: false });
  }

  stop(): void {
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }
}
