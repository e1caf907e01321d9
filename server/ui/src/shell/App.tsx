// The page: a header, the view that the address names, help, and what is read out.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { placeKey } from "../model/place";
import { ExecutionPage } from "../views/execution/ExecutionPage";
import { ListPage } from "../views/list/ListPage";
import { ErrorBoundary } from "./ErrorBoundary";
import { Header } from "./Header";
import { Help } from "./Help";
import { isTyping } from "./keys";
import { listHref } from "./links";
import { place } from "./route";
import { said, say } from "./say";
import { nextTheme, theme } from "./theme";

export function App() {
  const helpIsOpen = useSignal(false);
  const main = useRef<HTMLElement>(null);
  const opener = useRef<Element | null>(null);
  const key = placeKey(place.value);
  const isFirst = useRef(true);
  useEffect(() => {
    // Whoever arrives by a link starts at the heading; the first page is left to the browser.
    if (isFirst.current) isFirst.current = false;
    else main.current?.querySelector<HTMLElement>("h1")?.focus();
  }, [key]);
  const openHelp = (): void => {
    opener.current = document.activeElement;
    helpIsOpen.value = true;
  };
  const closeHelp = (): void => {
    helpIsOpen.value = false;
    if (opener.current instanceof HTMLElement) opener.current.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || isTyping(event)) return;
    if (event.key === "?") openHelp();
    else if (event.key === "t") changeTheme();
    else if (event.key === "/") main.current?.querySelector<HTMLElement>("[data-search]")?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <a
        class="sh-skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.querySelector<HTMLElement>("h1")?.focus();
        }}
      >
        Skip to the content
      </a>
      <Header onHelp={openHelp} />
      <main class="sh-main" id="main" ref={main} onKeyDown={onKeyDown}>
        <ErrorBoundary of={key}>
          <Page key={key} onHelp={openHelp} />
        </ErrorBoundary>
      </main>
      <Help isOpen={helpIsOpen} onClose={closeHelp} />
      <div class="sr-only" role="status" aria-live="polite">
        {said}
      </div>
    </>
  );
}

function Page({ onHelp }: { onHelp: () => void }) {
  const here = place.value;
  if (here.page === "execution") {
    return <ExecutionPage path={here.path} state={here.state} onHelp={onHelp} onTheme={changeTheme} />;
  }
  if (here.page === "list") return <ListPage parameters={here.parameters} />;
  return <Unknown address={here.address} />;
}

function changeTheme(): void {
  nextTheme();
  say(`Theme: ${theme.peek() === "auto" ? "as the system" : theme.peek()}`);
}

function Unknown({ address }: { address: string }) {
  useEffect(() => {
    document.title = "Unknown address · spanwise";
  }, []);
  return (
    <div class="sh-state">
      <h1 tabIndex={-1}>There is nothing at this address</h1>
      <p class="sh-wrap">
        The part behind # is <code>{address}</code>. An execution is at <code>#/e/PROJECT/DOMAIN/NAME</code>, each part
        percent-encoded; write its name into the field above, and the page makes the address.
      </p>
      <p>
        <a class="sh-link" href={listHref()}>
          All executions
        </a>
      </p>
    </div>
  );
}
