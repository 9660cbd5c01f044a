// Does the address lead to what the reader's role may use? Asked before anything of the page is loaded.
import type { QueryClient } from "@tanstack/react-query";
import { NotAllowed, can, type Gated } from "../api/rights";
import { whoamiQuery } from "../api/shared";

export const only =
  (action: Gated) =>
  async ({ context }: { context: { client: QueryClient } }) => {
    if (!can(await context.client.ensureQueryData(whoamiQuery), action)) throw new NotAllowed(action);
  };
