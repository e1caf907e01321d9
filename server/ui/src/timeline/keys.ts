// Keys of the timeline. They work only while it has the focus, and not in fields that take text (WCAG 2.2, 2.1.4).

import * as actions from "./actions";
import { movePacked } from "./packedLanes";
import { goToReason } from "./reasonSteps";
import type { Store } from "./store";

/** What keys ask of those around the timeline. */
export interface Commands {
  focusSearch(): void;
  openDetails(): void;
  /** Shows the tooltip of the reason that the keyboard is at. */
  showReason(reason: number): void;
  /** Closes the topmost of what is open. Gives whether there was anything. */
  close(): boolean;
  /** Views, theme and help belong to the page around. */
  page(command: PageCommand): void;
}

export type PageCommand = "view1" | "view2" | "view3" | "view4" | "view5" | "theme" | "help";

const PAN_SHARE = 0.15;
const LARGE = 3;

/** Does what a key stands for, more of it or the other way with Shift. False: there was nothing to do. */
type Press = (store: Store, isShifted: boolean, commands: Commands) => unknown;

const openDetails: Press = (_store, _isShifted, commands) => commands.openDetails();

const rowsBy =
  (by: number): Press =>
  (store, isShifted) =>
    actions.moveRows(store, isShifted ? by * actions.pageRows(store) : by);

const TREE_KEYS: Readonly<Record<string, Press>> = {
  ArrowDown: rowsBy(1),
  ArrowUp: rowsBy(-1),
  ArrowRight: actions.goInside,
  ArrowLeft: actions.goOutside,
  Home: (store) => actions.goToRow(store, 0),
  End: (store) => actions.goToRow(store, store.rows.peek().count - 1),
  PageDown: (store) => actions.moveRows(store, actions.pageRows(store)),
  PageUp: (store) => actions.moveRows(store, -actions.pageRows(store)),
  Enter: openDetails,
  " ": openDetails,
};

const packedBy =
  (along: number, across: number): Press =>
  (store, isShifted) => {
    const times = isShifted ? 10 : 1;
    movePacked(store, along * times, across * times);
  };

const PACKED_KEYS: Readonly<Record<string, Press>> = {
  ArrowRight: packedBy(1, 0),
  ArrowLeft: packedBy(-1, 0),
  ArrowDown: packedBy(0, 1),
  ArrowUp: packedBy(0, -1),
  Enter: openDetails,
  " ": openDetails,
};

const zoomBy =
  (sign: 1 | -1): Press =>
  (store, isShifted) =>
    actions.zoom(store, actions.ZOOM_STEP ** (isShifted ? sign * LARGE : sign));

const panBy =
  (sign: 1 | -1): Press =>
  (store, isShifted) =>
    actions.panBy(store, sign * PAN_SHARE * store.width.peek() * (isShifted ? LARGE : 1));

const reasonBy =
  (step: 1 | -1): Press =>
  (store, _isShifted, commands) => {
    const reason = goToReason(store, step);
    if (reason >= 0) commands.showReason(reason);
  };

/** Letters by what they are without Shift. */
const LETTER_KEYS: Readonly<Record<string, Press>> = {
  j: rowsBy(1),
  k: rowsBy(-1),
  w: zoomBy(-1),
  s: zoomBy(1),
  a: panBy(-1),
  d: panBy(1),
  ".": reasonBy(1),
  ",": reasonBy(-1),
  f: actions.fitActive,
  "0": actions.showAll,
  "/": (_store, _isShifted, commands) => commands.focusSearch(),
  n: (store, isShifted) => store.work.goToHit(isShifted ? -1 : 1),
  e: (store, isShifted) => actions.goToFailure(store, isShifted ? -1 : 1),
  c: (store) => {
    const { cp } = store.state;
    cp.value = !cp.peek();
    store.say(`Critical path ${cp.peek() ? "shown" : "hidden"}`);
  },
  x: (store, isShifted) => actions.setAllOpen(store, isShifted),
  l: (store) => store.toggleFollow(),
  t: (_store, _isShifted, commands) => commands.page("theme"),
  "?": (_store, _isShifted, commands) => commands.page("help"),
  escape: (_store, _isShifted, commands) => commands.close(),
};

/** Does what a key stands for. Gives whether it stands for anything. */
export function pressKey(store: Store, commands: Commands, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = event.target as HTMLElement;
  const { key, shiftKey } = event;
  if (target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]") !== null) {
    return key === "Escape" && commands.close();
  }
  const isInTree = target.closest("[data-keys=tree]") !== null;
  const ofTree = store.state.mode.peek() === "packed" ? PACKED_KEYS : TREE_KEYS;
  const press = (isInTree ? ofTree[key] : undefined) ?? LETTER_KEYS[key.toLowerCase()];
  const isShifted = shiftKey || /^[A-Z]$/.test(key);
  if (press !== undefined) return press(store, isShifted, commands) !== false;
  if (!/^[1-5]$/.test(key)) return false;
  commands.page(`view${key}` as PageCommand);
  return true;
}
