// The frame of every page: where one can go, whether what is shown is live, who one is.
import { useMantineColorScheme, useComputedColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { LiveProvider, useLive } from "../../api/LiveProvider";
import { can } from "../../api/rights";
import { signOut } from "../../api/session";
import { useWhoami } from "../../api/shared";
import { useServer } from "../../api/away";
import { PriorityNamesProvider } from "../../components/PriorityNamesProvider";
import { Loading } from "../../components/StateBlock";
import { icons } from "../../components/icons";
import { Banner } from "./Banner";
import { PLACES, isIn } from "./places";

export function Shell() {
  return (
    <LiveProvider>
      <a className="visually-hidden" href="#main">
        Skip to the content
      </a>
      <div className="shell">
        <Side />
        <div className="main">
          <Banner />
          <Main />
        </div>
      </div>
    </LiveProvider>
  );
}

/** What is not of now is dimmed. */
function Main() {
  const old = !useLive().connected;
  const away = useServer() === "away";
  return (
    <main id="main" className={old || away ? "main dimmed" : "main"} tabIndex={-1}>
      <Suspense fallback={<div className="page"><Loading /></div>}>
        <PriorityNamesProvider>
          <Outlet />
        </PriorityNamesProvider>
      </Suspense>
    </main>
  );
}

function Side() {
  const me = useWhoami();
  const [open, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <header className={open ? "side open" : "side"}>
      <Link to="/" className="brand">
        <Mark /> QuotaTree
      </Link>
      <button className="plain menubutton" aria-expanded={open} onClick={() => setOpen(!open)}>
        {icons.menu} Menu
      </button>
      <nav className="links" aria-label="Main" onClick={() => setOpen(false)}>
        {PLACES.filter((place) => place.needs === null || can(me, place.needs)).map((place) => (
          <Link key={place.to} to={place.to} className={isIn(path, place.to) ? "nav active" : "nav"} activeOptions={{ exact: true }}>
            {place.icon} {place.name}
          </Link>
        ))}
      </nav>
      <div className="foot">
        <LiveSign />
        <ThemeSwitch />
        <Link to="/me" className="nav" onClick={() => setOpen(false)}>
          {icons.users} <span className="cut" title={me.user.display}>{me.user.name}</span>
        </Link>
        <Leave />
      </div>
    </header>
  );
}

function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="var(--used-own)" />
      <g fill="var(--ground)">
        <rect x="6" y="7" width="20" height="5" rx="1.500" />
        <rect x="6" y="14" width="12" height="5" rx="1.500" opacity=".75" />
        <rect x="20" y="14" width="6" height="5" rx="1.500" opacity=".4" />
        <rect x="6" y="21" width="7" height="5" rx="1.500" opacity=".75" />
        <rect x="15" y="21" width="11" height="5" rx="1.500" opacity=".4" />
      </g>
    </svg>
  );
}

function LiveSign() {
  const live = useLive();
  return (
    <div className="plain" role="status" style={{ cursor: "default" }}>
      <span className={live.connected ? "livedot" : "livedot off"} aria-hidden="true" />
      {live.connected ? "live" : "not live"}
    </div>
  );
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme("light") === "dark";
  return (
    <button className="plain" onClick={() => setColorScheme(dark ? "light" : "dark")}>
      {dark ? icons.sun : icons.moon} {dark ? "Light" : "Dark"}
    </button>
  );
}

function Leave() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const leave = async () => {
    await signOut().catch(() => undefined);
    client.clear();
    await navigate({ to: "/login" });
  };
  return (
    <button className="plain" onClick={() => void leave()}>
      {icons.leave} Sign out
    </button>
  );
}
