// Runs in the page before its own scripts: notes what tests ask about afterwards.
(() => {
  const probe = { longTasksMs: [], frames: 0, tipMs: [], counts: [], movedAt: NaN, typedAt: NaN };
  Object.defineProperty(window, "__probe", { value: probe });
  const watch = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type });
  watch("longtask", (entry) => probe.longTasksMs.push(entry.duration));
  const ask = window.requestAnimationFrame;
  window.requestAnimationFrame = (callback) =>
    ask.call(window, (time) => {
      probe.frames += 1;
      callback(time);
    });
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    console.error(`the policy of content forbids ${violatedDirective} ${blockedURI}`),
  );
})();
