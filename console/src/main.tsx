// The console begins: theme, data, addresses.
import "@mantine/core/styles.css";
import "./tokens.css";
import "./base.css";
import { MantineProvider, localStorageColorSchemeManager } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { signedOut } from "./api/client";
import { ApiProblem } from "./api/problems";
import { onOtherKey } from "./api/sessionKey";
import { makeRouter } from "./routes/router";
import { theme } from "./theme";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      refetchInterval: 300_000, // events tell what is new: this is for what none tells, such as ageing
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiProblem && error.status >= 400 && error.status < 500),
    },
  },
});
const router = makeRouter(client);

signedOut.addEventListener("ended", () => {
  if (router.state.location.pathname.startsWith("/login")) return; // what the login page asks must not be forgotten under it
  client.clear();
  void router.navigate({ to: "/login", search: { back: router.state.location.href } });
});

onOtherKey(() => window.location.reload()); // nothing of another user stays on the screen

const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={localStorageColorSchemeManager({ key: "quotatree-theme" })}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  );
