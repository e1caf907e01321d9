// The page: a header, the view that the address names, help, and what is read out.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { placeKey, type Place } from "../model/place";
import { visible } from "../model/visible";
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
  /** Where help was asked for: another address closes it. */
  const helpedAt = useSignal<Place | null>(null);
  const main = useRef<HTMLElement>(null);
  const key = placeKey(place.value);
  const isFirst = useRef(true);
  const focusHeading = (): void => main.current!.querySelector("h1")?.focus();
  useEffect(() => {
    // Whoever arrives by a link starts at the heading; the first page is left to the browser.
    if (isFirst.current) isFirst.current = false;
    else focusHeading();
  }, [key]);
  const openHelp = (): void => {
    helpedAt.value = place.peek();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || isTyping(event)) return;
    if (event.key === "?") openHelp();
    else if (event.key === "t") changeTheme();
    else if (event.key === "/") main.current!.querySelector<HTMLElement>("[data-search=true]")?.focus();
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
          focusHeading();
        }}
      >
        Skip to the content
      </a>
      <Header onHelp={openHelp} />
      <main class="sh-main" id="main" ref={main} onKeyDown={onKeyDown}>
        <ErrorBoundary key={key}>
          <Page onHelp={openHelp} />
        </ErrorBoundary>
      </main>
      {helpedAt.value === place.value && <Help onClose={() => (helpedAt.value = null)} />}
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
    <div class="sh-state sh-wrap">
      <h1 tabIndex={-1}>There is nothing at this address</h1>
      <p>
        The part behind # is <code>{visible(address)}</code>. An execution is at <code>#/e/PROJECT/DOMAIN/NAME</code>, each part
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
