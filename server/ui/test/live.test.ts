import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EventStreamParser, openLive, SILENCE_MS, type Live } from "../src/data/live";
import { encodeColumns } from "./synthetic";

// The address of the page is read when the module is loaded.
vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://localhost/" }));

describe("event streams", () => {
  test("an event is read however its text is cut", () => {
    const text = ': still here\n\nevent: revision\r\ndata: {"revision":\r\ndata: "7"}\r\n\r\n';
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new EventStreamParser();
      const events = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      expect(events).toEqual([
        { event: "message", data: "" },
        { event: "revision", data: '{"revision":\n"7"}' },
      ]);
    }
  });

  test("what is not ended by an empty line is not told yet", () => {
    const parser = new EventStreamParser();
    expect(parser.push("event: revision\ndata: 1\n")).toEqual([]);
    expect(parser.push("\n")).toEqual([{ event: "revision", data: "1" }]);
  });
});

/** A server of one execution, as `fetch` sees it. */
class FakeServer {
  revision = "1";
  down = false;
  unknown = false;
  columnsAsked = 0;
  notModified = 0;
  private readonly streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

  fetch = (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    if (this.down) return Promise.reject(new TypeError("no connection"));
    const path = new URL(String(url)).pathname;
    if (this.unknown && path.endsWith("/columns")) {
      this.columnsAsked++;
      const error = { code: "NOT_FOUND", message: "nothing is known of p/d/f1" };
      return Promise.resolve(Response.json({ error }, { status: 404 }));
    }
    if (path.endsWith("/columns")) return Promise.resolve(this.columns(new Headers(init.headers)));
    return Promise.resolve(this.changes(init.signal ?? undefined));
  };

  tell(): void {
    this.write(`event: revision\ndata: {"revision": "${this.revision}", "phase": "RUNNING", "ended": false}\n\n`);
  }

  tellEnd(): void {
    this.write(`event: revision\ndata: {"revision": "${this.revision}", "phase": "SUCCEEDED", "ended": true}\n\n`);
    for (const stream of this.streams) stream.close();
    this.streams.clear();
  }

  write(text: string): void {
    for (const stream of this.streams) stream.enqueue(new TextEncoder().encode(text));
  }

  break(): void {
    this.down = true;
    for (const stream of this.streams) stream.error(new TypeError("connection lost"));
    this.streams.clear();
  }

  private columns(headers: Headers): Response {
    this.columnsAsked++;
    const etag = `"${this.revision}"`;
    if (headers.get("if-none-match") === etag) {
      this.notModified++;
      return new Response(null, { status: 304 });
    }
    const spans = [{ name: "f1", depth: 0, start: 0, end: null }];
    return new Response(encodeColumns({ spans, header: { revision: this.revision } }), { headers: { etag } });
  }

  private changes(signal: AbortSignal | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.streams.add(controller);
        signal?.addEventListener("abort", () => {
          if (this.streams.delete(controller)) controller.error(signal.reason);
        });
      },
    });
    queueMicrotask(() => this.tell());
    return new Response(body);
  }
}

describe("keeping an execution up to date", () => {
  let server: FakeServer;
  let live: Live;

  beforeEach(() => {
    vi.useFakeTimers();
    server = new FakeServer();
    vi.stubGlobal("fetch", server.fetch);
    vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible", baseURI: "http://localhost/" }));
    live = openLive({ project: "p", domain: "d", name: "f1" });
  });

  afterEach(() => {
    live.close();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  const settle = () => vi.advanceTimersByTimeAsync(100);
  const revision = () => live.execution.value?.header.revision;

  test("the execution is read, and read again when the server tells of a new revision", async () => {
    await settle();
    expect([live.status.value, revision()]).toEqual(["live", "1"]);
    server.revision = "2";
    server.tell();
    await settle();
    expect(revision()).toBe("2");
    expect(server.columnsAsked).toBe(2);
  });

  test("the revision that is shown is not read again", async () => {
    await settle();
    server.tell();
    server.tell();
    await settle();
    expect(server.columnsAsked).toBe(1);
  });

  test("signs of life keep it live, silence makes it lost, and it comes back by itself", async () => {
    await settle();
    for (let i = 0; i < 5; i++) {
      server.write(": still here\n\n");
      await vi.advanceTimersByTimeAsync(SILENCE_MS - 1000);
      expect(live.status.value).toBe("live");
    }
    await vi.advanceTimersByTimeAsync(1100);
    expect(live.status.value).toBe("lost");
    await vi.advanceTimersByTimeAsync(5000);
    expect(live.status.value).toBe("live");
    expect(server.notModified).toBeGreaterThan(0);
  });

  test("what is shown stays while the server is away, and what was missed is read after", async () => {
    await settle();
    server.break();
    await settle();
    expect([live.status.value, revision()]).toEqual(["lost", "1"]);
    server.revision = "9";
    await vi.advanceTimersByTimeAsync(20_000);
    expect(live.status.value).toBe("lost");
    server.down = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect([live.status.value, revision()]).toEqual(["live", "9"]);
  });

  test("after the end nothing is asked any more until somebody comes back to the page", async () => {
    await settle();
    server.revision = "2";
    server.tellEnd();
    await settle();
    expect([live.status.value, revision()]).toEqual(["ended", "2"]);
    const asked = server.columnsAsked;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.columnsAsked).toBe(asked);
    server.revision = "3";
    document.dispatchEvent(new Event("visibilitychange"));
    await settle();
    expect(revision()).toBe("3");
  });

  test("what the server refuses is not asked for again and again", async () => {
    live.close();
    let asked = 0;
    vi.stubGlobal("fetch", () => {
      asked++;
      const error = { error: { code: "INVALID_ARGUMENT", message: "the project is too long" } };
      return Promise.resolve(Response.json(error, { status: 400 }));
    });
    live = openLive({ project: "p", domain: "d", name: "f2" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect([live.status.value, live.error.value?.message, asked]).toEqual(["failed", "the project is too long", 1]);
  });

  test("what nothing has been heard of is waited for, ever more slowly, and comes alive with its first event", async () => {
    live.close();
    server.unknown = true;
    server.columnsAsked = 0;
    live = openLive({ project: "p", domain: "d", name: "f1" });
    await settle();
    expect([live.status.value, live.error.value?.message]).toEqual(["waiting", "nothing is known of p/d/f1"]);
    const asked = [];
    for (let i = 0; i < 6; i++) {
      await vi.advanceTimersByTimeAsync(10_000);
      asked.push(server.columnsAsked);
    }
    expect(asked).toEqual([3, 5, 6, 7, 8, 9]);
    server.unknown = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([live.status.value, revision(), live.error.value]).toEqual(["live", "1", null]);
  });

  test.each(["told of", "found after the connection broke"])("a deletion that is %s ends it, and nothing is asked any more", async (how) => {
    await settle();
    server.unknown = true;
    if (how === "told of") {
      server.revision = "2";
      server.tell();
    } else {
      server.break();
      server.down = false;
    }
    await vi.advanceTimersByTimeAsync(5000);
    expect([live.status.value, revision()]).toEqual(["gone", "1"]);
    const asked = server.columnsAsked;
    document.dispatchEvent(new Event("visibilitychange"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([live.status.value, server.columnsAsked]).toEqual(["gone", asked]);
  });

  test("a deletion after the end is found when somebody comes back to the page", async () => {
    await settle();
    server.tellEnd();
    await settle();
    server.unknown = true;
    document.dispatchEvent(new Event("visibilitychange"));
    await settle();
    expect([live.status.value, revision()]).toEqual(["gone", "1"]);
  });
});
