// The key of the session, which makes requests count. Browsers keep it for this origin: a service of a job, which answers at
// another port of the same host, cannot read it, and is not sent it as it would be sent a cookie.
const NAME = "quotatree-key";
let unkept: string | null = null; // where the browser stores nothing, the key lasts as long as the page

export function sessionKey(): string | null {
  try {
    return localStorage.getItem(NAME) ?? unkept;
  } catch {
    return unkept;
  }
}

export function keepSessionKey(key: string | null): void {
  unkept = null;
  try {
    if (key === null) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, key);
  } catch {
    unkept = key;
  }
}

/** Tells when another window of this browser has signed in or out. */
export function onOtherKey(tell: () => void): void {
  window.addEventListener("storage", (event) => {
    if (event.key === NAME || event.key === null) tell();
  });
}
