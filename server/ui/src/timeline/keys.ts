// Keys of the timeline. They work only while it has the focus, and not in fields that take text (WCAG 2.2, 2.1.4).

import * as actions from "./actions";
import { movePacked } from "./packedLanes";
import { goToReason } from "./reasonSteps";
import type { Store } from "./store";

/** What keys ask of those around the timeline. */
export interface Commands {
  focusSearch(): void;
  nextHit(step: 1 | -1): void;
  openDetails(): void;
  /** Shows the tooltip of the reason that the keyboard is at. */
  showReason(reason: number): void;
  /** Closes the topmost of what is open. Gives whether there was anything. */
  close(): boolean;
  toggleFollow(): void;
  /** Views, theme and help belong to the page around. */
  page(command: PageCommand): void;
}

export type PageCommand = "view1" | "view2" | "view3" | "view4" | "view5" | "theme" | "help";

const PAN_SHARE = 0.15;
const LARGE = 3;

/** Does what a key stands for. Gives whether it stands for anything. */
export function pressKey(store: Store, commands: Commands, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = event.target as HTMLElement;
  if (target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]") !== null) {
    return event.key === "Escape" && commands.close();
  }
  const inTree = target.closest("[data-keys=tree]") !== null;
  if (inTree && treeKey(store, commands, event)) return true;
  return letterKey(store, commands, event);
}

function treeKey(store: Store, commands: Commands, event: KeyboardEvent): boolean {
  const page = actions.pageRows(store);
  const lanes = store.lanes.peek();
  if (lanes !== null) {
    const step = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowRight") movePacked(store, lanes, step, 0);
    else if (event.key === "ArrowLeft") movePacked(store, lanes, -step, 0);
    else if (event.key === "ArrowDown") movePacked(store, lanes, 0, step);
    else if (event.key === "ArrowUp") movePacked(store, lanes, 0, -step);
    else if (event.key === "Enter" || event.key === " ") commands.openDetails();
    else return false;
    return true;
  }
  switch (event.key) {
    case "ArrowDown":
      actions.moveRows(store, event.shiftKey ? page : 1);
      return true;
    case "ArrowUp":
      actions.moveRows(store, event.shiftKey ? -page : -1);
      return true;
    case "ArrowRight":
      actions.goInside(store);
      return true;
    case "ArrowLeft":
      actions.goOutside(store);
      return true;
    case "Home":
      actions.goToRow(store, 0);
      return true;
    case "End":
      actions.goToRow(store, (store.rows.peek()?.count ?? 0) - 1);
      return true;
    case "PageDown":
      actions.moveRows(store, page);
      return true;
    case "PageUp":
      actions.moveRows(store, -page);
      return true;
    case "Enter":
      commands.openDetails();
      return true;
    case " ":
      commands.openDetails();
      return true;
    default:
      return false;
  }
}

function letterKey(store: Store, commands: Commands, event: KeyboardEvent): boolean {
  const large = event.shiftKey ? LARGE : 1;
  const step = event.shiftKey ? actions.pageRows(store) : 1;
  const width = store.width.peek();
  switch (event.key) {
    case "j":
    case "J":
      actions.moveRows(store, step);
      return true;
    case "k":
    case "K":
      actions.moveRows(store, -step);
      return true;
    case "w":
    case "W":
      actions.zoom(store, actions.ZOOM_STEP ** -large);
      return true;
    case "s":
    case "S":
      actions.zoom(store, actions.ZOOM_STEP ** large);
      return true;
    case "a":
    case "A":
      actions.panBy(store, -width * PAN_SHARE * large);
      return true;
    case "d":
    case "D":
      actions.panBy(store, width * PAN_SHARE * large);
      return true;
    case ".":
    case ",": {
      const reason = goToReason(store, event.key === "." ? 1 : -1);
      if (reason >= 0) commands.showReason(reason);
      return true;
    }
    case "f":
      actions.fitActive(store);
      return true;
    case "0":
      actions.showAll(store);
      return true;
    case "/":
      commands.focusSearch();
      return true;
    case "n":
    case "N":
      commands.nextHit(event.key === "n" ? 1 : -1);
      return true;
    case "e":
    case "E":
      actions.goToFailure(store, event.key === "e" ? 1 : -1);
      return true;
    case "c":
      store.state.cp.value = !store.state.cp.peek();
      store.say(`Critical path ${store.state.cp.peek() ? "shown" : "hidden"}`);
      return true;
    case "x":
    case "X":
      actions.setAllOpen(store, event.key === "X");
      return true;
    case "l":
      commands.toggleFollow();
      return true;
    case "t":
      commands.page("theme");
      return true;
    case "?":
      commands.page("help");
      return true;
    case "Escape":
      return commands.close();
    default:
      if (!/^[1-5]$/.test(event.key)) return false;
      commands.page(`view${event.key}` as PageCommand);
      return true;
  }
}
