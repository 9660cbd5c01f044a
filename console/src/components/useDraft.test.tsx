import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import { ApiProblem } from "../api/problems";
import { useDraft } from "./useDraft";

type Thing = { version: number; size: number };

function editing(send: (base: Thing, size: number) => Promise<unknown> = () => Promise.resolve()) {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>;
  const hook = ({ now }: { now: Thing }) => useDraft<Thing, number>({ now, version: (one) => one.version, read: (one) => one.size, send, stale: [] });
  return renderHook(hook, { wrapper, initialProps: { now: { version: 1, size: 48 } } });
}

test("until something is typed the draft follows the server, and afterwards it stays", () => {
  const { result, rerender } = editing();
  rerender({ now: { version: 2, size: 50 } });
  expect(result.current.draft).toBe(50);
  act(() => result.current.set(56));
  rerender({ now: { version: 3, size: 40 } });
  expect(result.current).toMatchObject({ draft: 56, base: { version: 2 }, clash: false });
});

test("what is known to be older is not sent; gone on with, it is sent from their version", async () => {
  const sent: [number, number][] = [];
  const { result, rerender } = editing((base, size) => Promise.resolve(sent.push([base.version, size])));
  act(() => result.current.set(56));
  rerender({ now: { version: 2, size: 40 } });
  act(() => result.current.save());
  expect(result.current.clash).toBe(true);
  expect(sent).toEqual([]);
  act(() => result.current.goOn());
  expect(result.current).toMatchObject({ clash: false, draft: 56 });
  act(() => result.current.save());
  await waitFor(() => expect(sent).toEqual([[2, 56]]));
});

test("a switch acts from what is there now, even after a change from elsewhere", async () => {
  const sent: [number, number][] = [];
  const { result, rerender } = editing((base, size) => Promise.resolve(sent.push([base.version, size])));
  rerender({ now: { version: 7, size: 1 } });
  act(() => result.current.act(0));
  await waitFor(() => expect(sent).toEqual([[7, 0]]));
});

test("another refusal is an error and no conflict, and what was typed stays", async () => {
  const { result } = editing(() => Promise.reject(new ApiProblem({ status: 409, detail: "below what is used" })));
  act(() => result.current.set(1));
  act(() => result.current.save());
  await waitFor(() => expect(result.current.error?.message).toBe("below what is used"));
  expect(result.current).toMatchObject({ clash: false, draft: 1 });
});
