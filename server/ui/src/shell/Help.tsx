// All keys, and what signs mean. A dialog of the browser: it keeps the focus inside, and Esc closes it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { KNOWN_PHASES } from "../model/words";
import { Button, PhaseMark } from "../views/parts";

const KEYS: [string, [string, string][]][] = [
  [
    "Everywhere on an execution",
    [
      ["1 – 5", "Timeline, operations, reasons, diagnosis, compare"],
      ["t", "Theme: as the system, light, dark"],
      ["?", "This help"],
      ["Esc", "Close the topmost"],
    ],
  ],
  [
    "Timeline: rows",
    [
      ["↑ ↓ or k j", "Row above, row below; with Shift a page"],
      ["← →", "Collapse or to the parent; expand or to the first child"],
      ["Home End", "First, last row"],
      ["Enter", "Details of the row"],
      ["x X", "Collapse all, expand all"],
      ["e E", "Next failure, previous failure"],
      [", .", "Previous reason, next reason"],
    ],
  ],
  [
    "Timeline: time",
    [
      ["w s", "Zoom in, zoom out; with Shift more"],
      ["a d", "Earlier, later; with Shift more"],
      ["f", "Fit the selected span"],
      ["0", "The whole run"],
      ["c", "Critical path on or off"],
      ["l", "Follow the end of a run that goes on"],
    ],
  ],
  [
    "Timeline: signs",
    [
      ["■", "A reason; ▲ a warning or an error"],
      ["3", "So many reasons close together: zoom in to part them"],
      ["━", "Critical path; dashed where the order of nodes was worked out from times"],
      ["▨", "It goes on, or, without teeth at its end, it waits"],
      ["┄", "On the way from the node before"],
      ["‹ ›", "The bar is to the left, to the right"],
      ["⌇", "Idle time that is folded"],
    ],
  ],
  [
    "Search",
    [
      ["/", "Search; in the lists of executions and of reasons too"],
      ["n N", "Next match, previous match"],
    ],
  ],
  [
    "Tables and lists",
    [
      ["↑ ↓ or k j", "Row above, row below"],
      ["Enter", "Open, or show in the timeline"],
      ["Space", "In the list: pick for a comparison"],
    ],
  ],
];

export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current!;
    element.showModal();
    return () => element.close(); // Gives the focus back, while it is still in the document.
  }, []);
  return (
    <dialog
      class="sh-help"
      ref={dialog}
      aria-labelledby="help-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div>
        <header>
          <h2 id="help-title">Keys and signs</h2>
          <Button onClick={onClose}>Close</Button>
        </header>
        <p>Single letters work while the focus is in the view: click a row, or press Tab until one is framed. They do not while you write in a field.</p>
        <div class="sh-help-columns">
          {KEYS.map(([title, keys]) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {keys.map(([key, meaning]) => (
                  <div key={key}>
                    <dt>
                      <kbd>{key}</kbd>
                    </dt>
                    <dd>{meaning}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
          <section>
            <h3>Phases</h3>
            <ul class="vw-list sh-phases">
              {KNOWN_PHASES.map((phase) => (
                <li key={phase}>
                  <PhaseMark phase={phase} />
                </li>
              ))}
            </ul>
          </section>
        </div>
      </div>
    </dialog>
  );
}
