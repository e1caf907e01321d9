// Mounts the timeline of the execution that the address names.

import { effect, type Signal } from "@preact/signals";
import { render } from "preact";
import { openLive } from "./data/live";
import { formatHash, parseHash, type ExecutionState } from "./model/url";
import "./styles/tokens.css";
import "./styles/base.css";
import { createViewState } from "./timeline/state";
import { TimelineView } from "./timeline/TimelineView";

const route = parseHash(location.hash);
if (route.page === "execution") {
  const { path, state } = route;
  const view = createViewState();
  const signals = Object.entries(view) as [keyof ExecutionState, Signal][];
  for (const [name, value] of signals) value.value = state[name];
  effect(() => {
    const now = { ...state, ...Object.fromEntries(signals.map(([name, value]) => [name, value.value])) };
    // Browsers refuse an address that changes with each frame.
    const timer = setTimeout(() => history.replaceState(null, "", formatHash({ page: "execution", path, state: now })), 150);
    return () => clearTimeout(timer);
  });
  const live = openLive(path);
  render(<TimelineView source={{ key: path, ...live }} state={view} />, document.getElementById("app")!);
}
