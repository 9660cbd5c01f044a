import { afterEach, describe, expect, it, vi } from "vitest";
import { send } from "./client";
import { keepSessionKey, onOtherKey, sessionKey } from "./sessionKey";

afterEach(() => keepSessionKey(null));

async function sentHeaders(method: string): Promise<Record<string, string>> {
  const fetched = vi.fn((_address: string, _init: RequestInit) => Promise.resolve(new Response("{}")));
  vi.stubGlobal("fetch", fetched);
  await send(method, "/api/v1/jobs");
  return fetched.mock.calls[0]?.[1].headers as Record<string, string>;
}

describe("the session's key", () => {
  it("goes with reads and with changes, and with nothing once it is forgotten", async () => {
    keepSessionKey("qs_1");
    for (const method of ["get", "post", "delete"]) expect((await sentHeaders(method)).Authorization).toBe("Bearer qs_1");
    keepSessionKey(null);
    expect(await sentHeaders("get")).not.toHaveProperty("Authorization");
  });

  it("lasts as long as the page where the browser stores nothing", () => {
    const closed = () => {
      throw new DOMException("denied", "SecurityError");
    };
    vi.stubGlobal("localStorage", { getItem: closed, setItem: closed, removeItem: closed });
    keepSessionKey("qs_2");
    expect(sessionKey()).toBe("qs_2");
    keepSessionKey(null);
    expect(sessionKey()).toBeNull();
  });

  it("tells when another window has signed in or out, and of nothing else", () => {
    const told = vi.fn();
    onOtherKey(told);
    window.dispatchEvent(new StorageEvent("storage", { key: "quotatree-theme" }));
    expect(told).not.toHaveBeenCalled();
    window.dispatchEvent(new StorageEvent("storage", { key: "quotatree-key" }));
    window.dispatchEvent(new StorageEvent("storage", { key: null }));
    expect(told).toHaveBeenCalledTimes(2);
  });
});
