import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../spanwise_server/web/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  // Property tests take seconds where the machine is busy; what hangs still ends.
  test: { include: ["test/**/*.test.ts"], testTimeout: 30_000, css: true },
});
