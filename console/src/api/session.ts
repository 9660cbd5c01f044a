// Signing in and out.
import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { keys } from "./keys";

export const waysQuery = queryOptions({
  queryKey: keys.ways,
  queryFn: ({ signal }) => call("get", "/api/v1/login-ways", { signal }),
  staleTime: 60_000,
});

export const signInByPassword = (user: string, password: string) => call("post", "/api/v1/session", { body: { user, password } });
export const signInByToken = (token: string) => call("post", "/api/v1/session/token", { body: { token } });
export const signInByLink = (code: string) => call("post", "/api/v1/session/link", { body: { code } });
export const signOut = () => call("delete", "/api/v1/session");

const REFUSED = "quotatree_refused=";

/** Why the server sent the reader back to the door, told once; null if it did not. */
export function whyRefused(): string | null {
  const found = document.cookie.split("; ").find((one) => one.startsWith(REFUSED));
  if (found === undefined) return null;
  document.cookie = `${REFUSED}; path=/login; max-age=0`;
  return decodeURIComponent(found.slice(REFUSED.length));
}
