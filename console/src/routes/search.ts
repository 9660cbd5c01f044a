// What stands behind the question mark of an address, read with care: only known names, only non-empty texts.

/** The named parameters that are non-empty texts (numbers count as texts). */
export function text<K extends string>(raw: Record<string, unknown>, names: readonly K[]): Partial<Record<K, string>> {
  const found: Partial<Record<K, string>> = {};
  for (const name of names) {
    const value = raw[name];
    if (typeof value === "string" && value !== "") found[name] = value;
    else if (typeof value === "number") found[name] = String(value);
  }
  return found;
}

/** A parameter that is on or left out. */
export function flag(raw: Record<string, unknown>, name: string): boolean {
  return raw[name] === true || raw[name] === 1 || raw[name] === "1" || raw[name] === "true";
}
