import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  plugins: [shareWithWorker(), shortJsx()],
  build: {
    outDir: "../spanwise_server/web/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // Property tests take seconds where the machine is busy; what hangs still ends.
  test: { include: ["test/**/*.test.ts"], testTimeout: 30_000, css: true },
});

const WORKER_URL = "?worker&url";
const RESOLVED = "\0worker-url:";
const IMPORT = 'import { Fragment as jsxFragment, h as jsxElement } from "preact";';

/**
 * Makes a worker an entry of the bundle of the page, so that both share the code that both need; Vite would make a
 * bundle of its own for it. A module that imports `./worker?worker&url` gets the address as before.
 */
function shareWithWorker(): Plugin {
  return {
    name: "share-with-worker",
    apply: "build",
    enforce: "pre",
    async resolveId(source, importer) {
      if (!source.endsWith(WORKER_URL)) return null;
      const worker = await this.resolve(source.slice(0, -WORKER_URL.length), importer);
      return worker && RESOLVED + worker.id;
    },
    load(id) {
      if (!id.startsWith(RESOLVED)) return null;
      const file = this.emitFile({ type: "chunk", id: id.slice(RESOLVED.length), name: "worker" });
      return `export default import.meta.ROLLUP_FILE_URL_${file};`;
    },
  };
}

/** Compiles JSX to calls of h(type, props, ...children): shorter than jsx(type, { ...props, children }) of the default. */
function shortJsx(): Plugin {
  return {
    name: "short-jsx",
    apply: "build",
    enforce: "pre",
    config: () => ({ oxc: { jsx: { runtime: "classic", pragma: "jsxElement", pragmaFrag: "jsxFragment" } } }),
    // Behind the code, so that lines keep their numbers; under names that nothing in a component hides.
    transform: (code, id) => (id.endsWith(".tsx") ? `${code}\n${IMPORT}\n` : null),
  };
}
