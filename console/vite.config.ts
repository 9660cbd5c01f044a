// How the console is built: into the Python package, with nothing that leaves the server's origin.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { finish } from "./finish.ts";
import { licences } from "./licences.ts";

const server = process.env["QUOTATREE_URL"] ?? "http://127.0.0.1:7070";

export default defineConfig({
  plugins: [react(), licences(import.meta.dirname), finish()],
  build: {
    outDir: process.env["CONSOLE_OUT"] ?? "../src/quotatree/console_files",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false, // a style sheet that could not be had once would be left out for good
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
  },
  server: { host: "127.0.0.1", proxy: { "/api": server } },
  preview: { host: "127.0.0.1", proxy: { "/api": server } },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], testTimeout: 60_000, setupFiles: ["testing/clean.ts"], isolate: false },
});
