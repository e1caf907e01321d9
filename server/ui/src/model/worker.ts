/**
 * The worker: answers what `requests.ts` lists. Started by
 * `new Worker(new URL("../model/worker.ts", import.meta.url), { type: "module" })`.
 */

import { type Answer, Answerer, type Ask } from "./requests";

const answerer = new Answerer();

addEventListener("message", (event: MessageEvent<Ask>) => {
  const answer: Answer = answerer.answer(event.data);
  postMessage(answer);
});
