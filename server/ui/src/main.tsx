// The page begins here.

import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./shell/App";
import { place } from "./shell/route";
import { zone, zoneOf } from "./shell/zone";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/tables.css";
import "./styles/list.css";
import "./styles/execution.css";
import "./styles/findings.css";

effect(() => {
  zone.value = zoneOf(place.value, location.hash);
});
render(<App />, document.getElementById("app")!);
