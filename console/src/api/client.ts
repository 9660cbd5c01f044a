// How is the server asked? By paths, parameters and bodies that the generated description knows.
import { ApiProblem, UNREACHABLE, problemOf } from "./problems";
import type { paths } from "./schema";
import { sessionKey } from "./sessionKey";

type Method = "get" | "post" | "put" | "patch" | "delete";
type Operation<P extends keyof paths, M extends Method> = paths[P][M];
type Answer<O> = O extends { responses: { 200: { content: { "application/json": infer T } } } }
  ? T
  : O extends { responses: { 201: { content: { "application/json": infer T } } } }
    ? T
    : unknown;
type Body<O> = O extends { requestBody?: { content: { "application/json": infer T } } } ? T : never;
type Params<O, K extends string> = O extends { parameters: infer A } ? (K extends keyof A ? A[K] : undefined) : undefined;

export type Options<O> = {
  path?: Params<O, "path">;
  query?: Params<O, "query">;
  body?: Body<O>;
  /** The version that the change was made from; the server refuses with 412 if there is a newer one. */
  version?: number;
  signal?: AbortSignal;
};

/** Who is told when the session has ended. */
export const signedOut = new EventTarget();

export async function call<P extends keyof paths & string, M extends Method>(
  method: M,
  path: P,
  options: Options<Operation<P, M>> = {},
): Promise<Answer<Operation<P, M>>> {
  const address = filled(path, (options.path ?? {}) as Record<string, string>) + search(options.query ?? {});
  const response = await send(method, address, options.body, options.version, options.signal);
  if (!response.ok) {
    if (response.status === 401 && !path.startsWith("/api/v1/session")) signedOut.dispatchEvent(new globalThis.Event("ended"));
    throw await problemOf(response);
  }
  return (await response.json()) as Answer<Operation<P, M>>;
}

export async function send(
  method: string,
  address: string,
  body?: unknown,
  version?: number,
  signal?: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (version !== undefined) headers["If-Match"] = `"${version}"`;
  const key = sessionKey();
  if (key !== null) headers.Authorization = `Bearer ${key}`;
  const init: RequestInit = { method: method.toUpperCase(), headers, credentials: "same-origin" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal !== undefined) init.signal = signal;
  try {
    return await fetch(address, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiProblem({ status: UNREACHABLE, detail: "the server cannot be reached" });
  }
}

export function filled(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** A query string: lists are repeated, and what is empty is left out. */
export function search(values: object): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null && one !== "") parts.append(name, String(one));
  }
  const text = parts.toString();
  return text === "" ? "" : `?${text}`;
}
