// Signs as strokes: those of phases, and those of buttons. Text beside them says the same.

import { phasePath } from "../draw/glyphs";

const ICONS = {
  shut: "M4 2.5 8 6 4 9.5",
  open: "M2.5 4 6 8 9.5 4",
  plus: "M6 2V10M2 6H10",
  minus: "M2 6H10",
  fit: "M1.5 3V9M10.5 3V9M3.5 6H8.5M5 4.3 3.3 6 5 7.7M7 4.3 8.7 6 7 7.7",
  all: "M1.5 4V1.5H4M8 1.5H10.5V4M10.5 8V10.5H8M4 10.5H1.5V8",
  close: "M3 3 9 9M9 3 3 9",
  previous: "M2.5 8 6 4 9.5 8",
  next: "M2.5 4 6 8 9.5 4",
  search: "M8.3 4.9A3.4 3.4 0 1 1 1.5 4.9 3.4 3.4 0 0 1 8.3 4.9ZM7.4 7.4 10.6 10.6",
  follow: "M1.5 6H8M5.5 3 8.5 6 5.5 9M10.5 2V10",
  path: "M1.5 9.5H4.5V6H7.5V2.5H10.5",
  fold: "M1 6H3.5L5 3 7 9 8.5 6H11",
  packed: "M1.5 3H6M7.5 3H10.5M1.5 6H3.5M5 6H10.5M1.5 9H8",
  expandAll: "M2.5 4.5 6 1.5 9.5 4.5M2.5 7.5 6 10.5 9.5 7.5",
  collapseAll: "M2.5 1.5 6 4.5 9.5 1.5M2.5 10.5 6 7.5 9.5 10.5",
  filter: "M1.5 2.5H10.5L7 6.6V10L5 9V6.6Z",
} as const;

export type IconName = keyof typeof ICONS;

function Stroke({ path, kind }: { path: string; kind: string }) {
  return (
    <svg class={`tl-icon ${kind}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export function Icon({ name }: { name: IconName }) {
  return <Stroke path={ICONS[name]} kind="is-button" />;
}

export function PhaseGlyph({ phase, failed }: { phase: string; failed: boolean }) {
  return <Stroke path={phasePath(phase)} kind={failed ? "is-failed" : "is-phase"} />;
}
