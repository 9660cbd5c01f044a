// The door: by password, token, identity provider, or a link that works once.
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { sentence } from "../../api/problems";
import { goToProvider, signInByLink, signInByPassword, signInByProvider, signInByToken, waysQuery } from "../../api/session";
import { sessionKey } from "../../api/sessionKey";
import { whoamiQuery } from "../../api/shared";

const LINK = "link";
const PROVIDER = "oidc";

export function LoginPage() {
  const { back } = useSearch({ from: "/login" });
  const ways = useQuery(waysQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [wrong, setWrong] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ user: string | null; code: string } | null>(null);
  const begun = useRef(false);

  /** Signs in by `act`, and goes to where that says, or to where the reader wanted to go. */
  const enter = async (act: () => Promise<string | void>) => {
    setBusy(true);
    setWrong(null);
    try {
      const to = (await act()) ?? back;
      client.clear();
      await navigate({ to: insideOnly(to), replace: true });
    } catch (error) {
      setWrong(sentence(error));
    } finally {
      setBusy(false);
    }
  };

  /** A link signs in at once, unless somebody is signed in, or was until their session ended: another site may have sent them
   * here to become someone else.
   */
  const follow = async (code: string) => {
    if (sessionKey() === null) return enter(() => signInByLink(code));
    const me = await client.fetchQuery(whoamiQuery).catch(() => null);
    setAsked({ user: me === null ? null : me.user.name, code });
  };

  const stay = async (user: string | null) => {
    setAsked(null);
    if (user !== null) await navigate({ to: "/", replace: true });
  };

  const leave = async () => {
    setBusy(true);
    try {
      await goToProvider(insideOnly(back));
    } catch (error) {
      setWrong(sentence(error));
      setBusy(false);
    }
  };

  useEffect(() => {
    const [way, said] = window.location.hash.slice(1).split("=", 2);
    if (begun.current || said === undefined) return;
    begun.current = true;
    if (way === LINK) void follow(said);
    if (way === PROVIDER) void enter(async () => signInByProvider(decodeURIComponent(said)));
  });

  return (
    <main style={{ height: "100%", display: "grid", placeItems: "center", overflow: "auto", background: "var(--ground-2)" }}>
      <div className="card stack" style={{ width: 360, maxWidth: "94vw", padding: 28 }}>
        <h1>QuotaTree</h1>
        <p className="dim">Sign in to see your team's quotas and jobs.</p>
        {wrong === null ? null : <div className="notice bad" role="alert">{wrong}</div>}
        {asked === null ? null : (
          <div className="notice warn stack" role="alert">
            {asked.user === null ? "Your session here has ended" : `You are signed in as ${asked.user}`}, and this link may sign you in as another
            user. Go on only if you asked for it.
            <Button size="sm" loading={busy} onClick={() => void enter(() => signInByLink(asked.code))}>
              Sign in with the link
            </Button>
            <Button size="sm" variant="default" onClick={() => void stay(asked.user)}>
              {asked.user === null ? "Sign in another way" : `Stay signed in as ${asked.user}`}
            </Button>
          </div>
        )}
        {ways.data?.password === false ? null : <PasswordForm busy={busy} enter={enter} />}
        {ways.data?.oidc ? (
          <Button variant="default" loading={busy} onClick={() => void leave()}>
            Sign in with {host(ways.data.oidc_issuer)}
          </Button>
        ) : null}
        <TokenForm busy={busy} enter={enter} open={ways.data?.password === false} />
        <p className="dim small">
          No way in? An administrator gives you a password or a token. Logged in at a terminal, <span className="mono">quotatree console</span> prints a link that works once.
        </p>
      </div>
    </main>
  );
}

type FormProps = { busy: boolean; enter: (act: () => Promise<string | void>) => Promise<void> };

function PasswordForm({ busy, enter }: FormProps) {
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter(() => signInByPassword(user, password));
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput label="User" value={user} onChange={(e) => setUser(e.currentTarget.value)} autoComplete="username" size="sm" required autoFocus />
      <PasswordInput label="Password" value={password} onChange={(e) => setPassword(e.currentTarget.value)} autoComplete="current-password" size="sm" required />
      <Button type="submit" size="sm" loading={busy}>
        Sign in
      </Button>
    </form>
  );
}

function TokenForm({ busy, enter, open }: FormProps & { open: boolean }) {
  const [token, setToken] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter(() => signInByToken(token.trim()));
  };
  return (
    <details open={open}>
      <summary className="small dim" style={{ cursor: "pointer" }}>
        Sign in with a token
      </summary>
      <form className="stack" style={{ marginTop: 10 }} onSubmit={submit}>
        <PasswordInput label="Token" placeholder="qt_…" value={token} onChange={(e) => setToken(e.currentTarget.value)} autoComplete="off" size="sm" required />
        <Button type="submit" variant="default" size="sm" loading={busy}>
          Sign in with the token
        </Button>
      </form>
    </details>
  );
}

/** Where to go after the login: an address of this console, never another origin. */
function insideOnly(back: string | undefined): string {
  return back !== undefined && back.startsWith("/") && !back.startsWith("//") && !back.startsWith("/login") ? back : "/";
}

function host(issuer: string | null): string {
  try {
    return issuer === null ? "your organisation" : new URL(issuer).host;
  } catch {
    return "your organisation";
  }
}
