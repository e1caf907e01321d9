// Top of every page: where one is, where one can go, and how things are shown.

import { useSignal } from "@preact/signals";
import type { Zone } from "../model/format";
import { readName } from "../model/place";
import { TextInput } from "../views/fields";
import { Button } from "../views/parts";
import { executionPlace, listHref, listPlace } from "./links";
import { navigate, place, replace } from "./route";
import { nextTheme, theme, type ThemeChoice } from "./theme";
import { chooseZone, zone } from "./zone";

const THEME_WORDS: Record<ThemeChoice, string> = { auto: "Auto", light: "Light", dark: "Dark" };

export function Header({ onHelp }: { onHelp: () => void }) {
  return (
    <header class="sh-header">
      <a class="sh-brand" href={listHref()} title="All executions">
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="M1 3.5H9M4 8H13M9 12.5H15" fill="none" stroke="currentColor" stroke-width="2.4" />
        </svg>
        spanwise
      </a>
      <OpenBox />
      <div class="sh-tools">
        <div class="sh-switch" role="group" aria-label="Times in">
          <ZoneButton of="local" label="Local" />
          <ZoneButton of="utc" label="UTC" />
        </div>
        <Button title="Theme: as the system, light, dark" aria-label={`Theme: ${THEME_WORDS[theme.value]}`} onClick={nextTheme}>
          <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
            <circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" stroke-width="1.3" />
            <path d="M6 1.4A4.6 4.6 0 0 1 6 10.6Z" fill="currentColor" />
          </svg>
          <span class="sh-theme-text">{THEME_WORDS[theme.value]}</span>
        </Button>
        <Button title="Keys and signs (?)" aria-label="Keys and signs" onClick={onHelp}>
          ?
        </Button>
      </div>
    </header>
  );
}

function ZoneButton({ of, label }: { of: Zone; label: string }) {
  const choose = (): void => {
    chooseZone(of);
    const here = place.peek();
    if (here.page === "list") replace(listPlace(here.parameters));
  };
  return (
    <button type="button" aria-pressed={zone.value === of} onClick={choose}>
      {label}
    </button>
  );
}

function OpenBox() {
  const text = useSignal("");
  const submit = (event: Event): void => {
    event.preventDefault();
    const written = text.peek().trim();
    if (written === "") return;
    const path = readName(written);
    // What names no execution is looked for.
    navigate(path === null ? listPlace({ search: written }) : executionPlace(path));
    text.value = "";
    (document.activeElement as HTMLElement).blur();
  };
  return (
    <form class="sh-open" role="search" aria-label="Open an execution" onSubmit={submit}>
      <TextInput
        aria-label="Open PROJECT/DOMAIN/NAME, or search for a part of a name"
        placeholder="Open PROJECT/DOMAIN/NAME, or search"
        value={text}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
    </form>
  );
}
