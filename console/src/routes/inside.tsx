// Everything behind the door: who is not signed in goes to the login page and comes back.
import { createRoute, redirect } from "@tanstack/react-router";
import { ApiProblem } from "../api/problems";
import { whoamiQuery } from "../api/shared";
import { NoSuchPage } from "../components/StateBlock";
import { Shell } from "../features/shell/Shell";
import { rootRoute } from "./root";

export const insideRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "inside",
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.client.ensureQueryData(whoamiQuery);
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) throw redirect({ to: "/login", search: { back: location.href } });
      throw error;
    }
  },
});

/** Any address behind the door that is no page: said beside the menu. */
export const nowhereRoute = createRoute({ getParentRoute: () => insideRoute, path: "$", staticData: { title: "No such page" }, component: NoSuchPage });
