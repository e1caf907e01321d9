// The colours of the canvas are those of the style sheet, read anew whenever they may have changed.

export interface Theme {
  ground: string;
  groundSelected: string;
  ink: string;
  inkMuted: string;
  grid: string;
  lineStrong: string;
  accent: string;
  setup: string;
  runtime: string;
  teardown: string;
  waiting: string;
  frame: string;
  frameLine: string;
  failure: string;
  hit: string;
  gap: string;
  font: string;
  /** Whether the system gives the colours. */
  isForced: boolean;
}

const FORCED = "(forced-colors: active)";
type ColorName = Exclude<keyof Theme, "font" | "isForced">;

const PROPERTIES: Record<ColorName, string> = {
  ground: "--ground",
  groundSelected: "--ground-selected",
  ink: "--ink",
  inkMuted: "--ink-muted",
  grid: "--grid",
  lineStrong: "--line-strong",
  accent: "--accent",
  setup: "--bar-setup",
  runtime: "--bar-runtime",
  teardown: "--bar-teardown",
  waiting: "--bar-waiting",
  frame: "--bar-frame",
  frameLine: "--bar-frame-line",
  failure: "--failure",
  hit: "--hit",
  gap: "--gap",
};

/** Colours as the browser resolves them for `element`: `light-dark()` and system colours included. */
export function readTheme(element: HTMLElement): Theme {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const style = getComputedStyle(probe);
  const theme = { font: style.fontFamily, isForced: matchMedia(FORCED).matches } as Theme;
  for (const [key, property] of Object.entries(PROPERTIES)) {
    probe.style.color = `var(${property})`;
    theme[key as ColorName] = style.color;
  }
  probe.remove();
  return theme;
}

/** Text beside bars, and on the heads of clusters. */
export function labelFont(theme: Theme): string {
  return `11px ${theme.font}`;
}

export function countFont(theme: Theme): string {
  return `600 9px ${theme.font}`;
}

/** Calls `changed` when the system's or the page's choice of colours changes. Gives what stops that. */
export function watchTheme(changed: () => void): () => void {
  const queries = ["(prefers-color-scheme: dark)", FORCED, "print"].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener("change", changed);
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    for (const query of queries) query.removeEventListener("change", changed);
    observer.disconnect();
  };
}
