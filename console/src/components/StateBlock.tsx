// Loading, empty and wrong: each says what it is and what to do next.
import { Link, useRouter } from "@tanstack/react-router";
import { useCallback, useEffect, useState, type ReactNode } from "react";
import { untilThere } from "../api/away";
import { ApiProblem, UNREACHABLE, sentence } from "../api/problems";
import { NotAllowed } from "../api/rights";
import { moment } from "../formats";

const PATIENCE_MS = 150;

/** Grey lines, but only if the answer takes longer than a moment. */
export function Loading({ rows = 5 }: { rows?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <div className="stack" role="status" aria-label="loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="skeleton" style={{ width: `${90 - ((row * 13) % 40)}%` }} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="state">
      <h2>{title}</h2>
      {children === undefined ? null : <div className="dim">{children}</div>}
    </div>
  );
}

type Found = { what: string; id: string; all: string; name: string };

/** In place of something that is not there: what was looked for, and where the rest of its kind is. */
export function Missing({ what, id, all, name }: Found) {
  return (
    <div className="state" role="alert">
      <h1>
        There is no {what} <bdi>{id}</bdi>
      </h1>
      <p>Not there, or not yours: the address may be mistyped, it may be deleted, or it belongs to a team that you are not in.</p>
      <Link to={all}>{name}</Link>
    </div>
  );
}

/** Whether the server knows nothing of that name, or says that nothing can have it. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 404 || error.status === 422);
}

export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error instanceof NotAllowed || (error instanceof ApiProblem && error.status === 403)) return <NotForYou text={sentence(error)} />;
  const rule = error instanceof ApiProblem ? error.rule : undefined;
  return (
    <div className="state" role="alert">
      <h2>{error instanceof ApiProblem && error.status === 404 ? "Nothing here" : "That did not work"}</h2>
      <p>{sentence(error)}</p>
      {rule === undefined ? null : <p className="dim small">Rule {rule}</p>}
      {retry === undefined ? null : <button className="button" onClick={retry}>Try again</button>}
    </div>
  );
}

/** In place of a page that broke: the menu stays, and what could not be reached is asked for again when it is there. */
export function PageError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = useCallback(() => {
    reset();
    void router.invalidate();
  }, [reset, router]);
  const lost = error instanceof ApiProblem && error.status === UNREACHABLE;
  useEffect(() => {
    if (lost) void untilThere().then(again);
  }, [lost, again]);
  return (
    <div className="page">
      <ErrorState error={error} retry={again} />
    </div>
  );
}

function NotForYou({ text }: { text: string }) {
  return (
    <div className="state" role="alert">
      <h1>Not for your role</h1>
      <p>{text}</p>
      <Link to="/me">Your roles</Link>
    </div>
  );
}

export function NoSuchPage() {
  return (
    <div className="page">
      <div className="head">
        <h1>There is no such page</h1>
      </div>
      <p className="dim">The address may be mistyped, or the page has moved. Choose a place of the menu, or go to the <Link to="/">overview</Link>.</p>
    </div>
  );
}

type Asked<T> = { data: T | undefined; error: unknown; dataUpdatedAt: number; refetch: () => unknown };

/** Shows the answer; while there is none a skeleton; if a later question failed, the old answer with its age. */
export function Answered<T>({ query, rows, children }: { query: Asked<T>; rows?: number; children: (data: T) => ReactNode }) {
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    if (query.error !== null) return <ErrorState error={query.error} retry={retry} />;
    return <Loading {...(rows === undefined ? {} : { rows })} />;
  }
  return (
    <>
      {query.error === null ? null : (
        <div className="stale" role="status">
          <span>
            As of {moment(query.dataUpdatedAt, Date.now())}: {sentence(query.error)}
          </span>
          <button className="linkish" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      {children(query.data)}
    </>
  );
}
