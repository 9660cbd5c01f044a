// What is said above every page while the server is away, or is a newer one than this page is of.
import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { useLive } from "../../api/LiveProvider";
import { loadAnew, useServer } from "../../api/away";
import { moment } from "../../formats";
import { PLACES } from "./places";

export function Banner() {
  const live = useLive();
  const server = useServer();
  const wanted = useRouterState({ select: (state) => (state.location.pathname === state.resolvedLocation?.pathname ? null : state.location) });
  useEffect(() => {
    if (server === "newer" && wanted !== null) loadAnew(wanted.href);
  }, [server, wanted]);
  if (server === "newer")
    return (
      <div className="banner" role="alert">
        The server has a newer version of the console.
        <button className="linkish" onClick={() => window.location.reload()}>
          Load it
        </button>
      </div>
    );
  if (live.connected && server === "there") return null;
  const name = PLACES.find((place) => place.to === wanted?.pathname)?.name ?? "The page that you asked for";
  return (
    <div className="banner" role="alert">
      <span className="livedot off" aria-hidden="true" />
      The connection to the server is lost. What you see is of {moment(live.lastMs, Date.now())}; {wanted !== null && server === "away" ? `${name} opens as soon as the server answers.` : "it is being tried again."}
    </div>
  );
}
