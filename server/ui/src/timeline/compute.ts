// Heavy work on an execution, done by a worker so that the page stays quick.

import workerUrl from "../model/worker?worker&url";
import { Asker, type Answer, type RequestName, type Requests } from "../model/requests";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

/** The page demands that addresses of scripts are vouched for (Trusted Types); there is this one only. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("spanwise", {
  createScriptURL(url) {
    if (new URL(url, location.href).origin !== location.origin) throw new TypeError(`${url} is not of this server`);
    return url;
  },
});

function vouchFor(url: string): string {
  return (policy?.createScriptURL(url) ?? url) as string;
}

/** Asks about one execution at a time: that of the last `load`. */
export class Compute {
  private worker: Worker | null = null;
  private readonly asker = new Asker((ask, transfer) => this.started().postMessage(ask, transfer));

  /** Answers after this are about the execution of these bytes. */
  load(bytes: ArrayBuffer): Promise<unknown> {
    const copy = bytes.slice(0);
    return this.asker.ask("load", { buffer: copy }, [copy]);
  }

  ask<Name extends RequestName>(name: Name, request: Requests[Name]["ask"]): Promise<Requests[Name]["answer"]> {
    return this.asker.ask(name, request);
  }

  dispose(): void {
    this.worker?.terminate();
    this.worker = null;
  }

  private started(): Worker {
    if (this.worker !== null) return this.worker;
    const worker = new Worker(vouchFor(workerUrl), { type: "module" });
    worker.addEventListener("message", (event: MessageEvent<Answer>) => this.asker.receive(event.data));
    worker.addEventListener("error", (event) => this.asker.fail(new Error(event.message)));
    this.worker = worker;
    return worker;
  }
}
