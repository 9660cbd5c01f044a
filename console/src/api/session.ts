// Signing in and out.
import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { keys } from "./keys";
import { keepSessionKey } from "./sessionKey";

export const waysQuery = queryOptions({
  queryKey: keys.ways,
  queryFn: ({ signal }) => call("get", "/api/v1/login-ways", { signal }),
  staleTime: 60_000,
});

export const signInByPassword = async (user: string, password: string) => keep(await call("post", "/api/v1/session", { body: { user, password } }));
export const signInByToken = async (token: string) => keep(await call("post", "/api/v1/session/token", { body: { token } }));
export const signInByLink = async (code: string) => keep(await call("post", "/api/v1/session/link", { body: { code } }));

const keep = (opened: { key: string }) => keepSessionKey(opened.key);

export async function signOut(): Promise<void> {
  try {
    await call("delete", "/api/v1/session");
  } finally {
    keepSessionKey(null);
  }
}

// -- by the identity provider: what begins here must end in the same window of this origin
const BEGUN = "quotatree-login";
type Begun = { secret: string; back: string };

/** Goes to the identity provider, which sends the reader back to the login page, and this one then to `back`. */
export async function goToProvider(back: string): Promise<void> {
  const { url, secret } = await call("post", "/api/v1/oidc/login");
  sessionStorage.setItem(BEGUN, JSON.stringify({ secret, back } satisfies Begun));
  window.location.assign(url);
}

/** Signs in by the provider's answer; returns where the reader wanted to go. */
export async function signInByProvider(answer: string): Promise<string> {
  const { secret, back } = JSON.parse(sessionStorage.getItem(BEGUN) ?? '{"secret": "", "back": "/"}') as Begun;
  sessionStorage.removeItem(BEGUN);
  keep(await call("post", "/api/v1/session/oidc", { body: { answer, secret } }));
  return back;
}
