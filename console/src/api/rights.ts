// May the reader do this? The server says so with every thing it shows; the page knows no roles.

export function can(thing: object | null | undefined, action: string): boolean {
  const allowed = (thing as { allowed?: readonly string[] } | null | undefined)?.allowed;
  return allowed?.includes(action) ?? false;
}
