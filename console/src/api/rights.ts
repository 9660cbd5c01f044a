// May the reader do this? The server says so with every thing it shows; the page knows no roles.

import whoMay from "../whoMay.json";

export type Gated = keyof typeof whoMay;

/** Thrown where an address leads to what the reader's role may not use. */
export class NotAllowed extends Error {
  constructor(action: Gated, of = "") {
    const { does, roles } = whoMay[action];
    const who = roles.map((role) => `${role.replace("-", " ")}s`).join(" and ");
    super(`Your role may not ${does}${of === "" ? "" : ` of ${of}`}. ${who.charAt(0).toUpperCase()}${who.slice(1)} may: ask one of them.`);
    this.name = "NotAllowed";
  }
}

export function can(thing: object | null | undefined, action: string): boolean {
  const allowed = (thing as { allowed?: readonly string[] } | null | undefined)?.allowed;
  return allowed?.includes(action) ?? false;
}
