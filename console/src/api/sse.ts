// What does a piece of an event stream say? Server-sent events, read by hand so that heartbeats are seen too.

export type Message = { id: string | undefined; kind: string; data: string };
export type Read = { messages: Message[]; rest: string };

/** The whole messages in a buffer, comments (heartbeats) left out, and what is left of an unfinished one. */
export function readMessages(buffer: string): Read {
  const parts = buffer.split("\n\n");
  const rest = parts.pop() ?? "";
  const messages = parts.map(message).filter((one) => one !== undefined);
  return { messages, rest };
}

function message(text: string): Message | undefined {
  let id: string | undefined;
  let kind = "message";
  const data: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("event: ")) kind = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length === 0 ? undefined : { id, kind, data: data.join("\n") };
}

const LONGEST_PAUSE_MS = 30_000;

/** How long to wait before the next attempt: 1, 2, 4 … 30 s. */
export function pauseMs(attempt: number): number {
  return Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** Math.max(0, attempt));
}
