// The canvases with the bars. They repeat what the tree grid and the details say, and are hidden from screen readers.

import { useComputed, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Mark } from "../model/axis";
import { PlotPointer } from "./pointer";
import { Renderer } from "./renderer";
import type { Store } from "./store";
import type { TipControl } from "./tipControl";

interface Props {
  store: Store;
  tips: TipControl;
  ticks: { readonly value: Mark[] };
  renderer: Signal<Renderer | null>;
  scroller: { current: HTMLElement | null };
}

export function Plot({ store, tips, ticks, renderer, scroller }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const canvases = useRef<(HTMLCanvasElement | null)[]>([null, null, null]);
  const gridX = useComputed(() => ticks.value.map((tick) => tick.x));

  useLayoutEffect(() => {
    const plot = element.current!;
    const measure = (): void => {
      store.width.value = plot.clientWidth;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(plot);
    return () => observer.disconnect();
  }, [store]);

  useEffect(() => {
    const made = new Renderer(store, element.current!, canvases.current as HTMLCanvasElement[], gridX);
    renderer.value = made;
    const pointer = new PlotPointer(store, made, tips, element.current!, scroller.current!);
    return () => {
      renderer.value = null;
      pointer.dispose();
      made.dispose();
    };
  }, [store]);

  return (
    <div class="tl-plot" ref={element} aria-hidden="true">
      {[0, 1, 2].map((layer) => (
        <canvas key={layer} ref={(canvas) => void (canvases.current[layer] = canvas)} />
      ))}
    </div>
  );
}
