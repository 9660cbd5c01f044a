import { expect, test } from "vitest";
import { pauseMs, readMessages } from "./sse";

test("whole messages are read and an unfinished one is kept", () => {
  const read = readMessages('id: 7\nevent: job.started\ndata: {"seq":7}\n\n: 7\n\nid: 8\nevent: job');
  expect(read.messages).toEqual([{ id: "7", kind: "job.started", data: '{"seq":7}' }]);
  expect(read.rest).toBe("id: 8\nevent: job");
});

test("a heartbeat is no message", () => {
  expect(readMessages(": listening\n\n")).toEqual({ messages: [], rest: "" });
});

test("pauses double up to half a minute", () => {
  expect([0, 1, 2, 3, 4, 5, 9].map(pauseMs)).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000]);
});
