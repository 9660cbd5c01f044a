// The door: by password, token, identity provider, or a link that works once.
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { sentence } from "../../api/problems";
import { signInByLink, signInByPassword, signInByToken, waysQuery, whyRefused } from "../../api/session";

const LINK = "#link=";

export function LoginPage() {
  const { back } = useSearch({ from: "/login" });
  const ways = useQuery(waysQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [wrong, setWrong] = useState<string | null>(whyRefused);
  const [busy, setBusy] = useState(false);
  const linked = useRef(false);

  const enter = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setWrong(null);
    try {
      await act();
      client.clear();
      await navigate({ to: insideOnly(back), replace: true });
    } catch (error) {
      setWrong(sentence(error));
    } finally {
      setBusy(false);
    }
  };

  useEffect(() => {
    if (linked.current || !window.location.hash.startsWith(LINK)) return;
    linked.current = true;
    const code = decodeURIComponent(window.location.hash.slice(LINK.length));
    void enter(() => signInByLink(code));
  });

  return (
    <main style={{ height: "100%", display: "grid", placeItems: "center", overflow: "auto", background: "var(--ground-2)" }}>
      <div className="card stack" style={{ width: 360, maxWidth: "94vw", padding: 28 }}>
        <h1>QuotaTree</h1>
        <p className="dim">Sign in to see your team's quotas and jobs.</p>
        {wrong === null ? null : <div className="notice bad" role="alert">{wrong}</div>}
        {ways.data?.password === false ? null : <PasswordForm busy={busy} enter={enter} />}
        {ways.data?.oidc ? (
          <Button component="a" variant="default" href={`/api/v1/oidc/login?return_to=${encodeURIComponent(insideOnly(back))}`}>
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

type FormProps = { busy: boolean; enter: (act: () => Promise<unknown>) => Promise<void> };

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
