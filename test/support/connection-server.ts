import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { assetRoutes, defineAsset } from "../../src/http/html/index.ts";
import { defineRoute } from "../../src/http/route.ts";
import type { HttpServerOptions } from "../../src/http/server.ts";
import { waitUntil } from "./asserts/wait-until.ts";
import { FakeClock } from "./fake-clock.ts";
import { PUBLIC_ROUTE, testServer } from "./test-app.ts";

export const KEEP_ALIVE_REQUEST = "GET /hello HTTP/1.1\r\nhost: x\r\n\r\n";
/** More than the kernel stores for a connection whose client reads nothing. */
export const LARGE_BODY = Buffer.alloc(7 * 1024 * 1024, "x");
/** More than a megabyte, like the largest asset of common documentation pages. */
export const LARGE_ASSET = defineAsset("large.js", "x".repeat(1_500_000));
const CHUNK = Buffer.alloc(64 * 1024, "x");
/** Iterations of the event loop after which a client that reads nothing has received all that the kernel stores. */
export const SETTLED_ITERATIONS = 200;

/** A client whose socket the test reads and closes. */
export class Client {
  readonly socket: Socket;
  text = "";
  #closed = false;
  readonly closed: Promise<void>;
  /** Resolves when the server has closed its side, or the whole connection. */
  readonly ended: Promise<void>;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#closed = true;
        resolve();
      });
    });
    this.ended = Promise.race([this.closed, new Promise<void>((resolve) => socket.once("end", resolve))]);
    // The server may reset a connection.
    socket.on("error", () => {});
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  readAll(): this {
    this.socket.on("data", (chunk) => {
      this.text += chunk.toString("latin1");
    });
    return this;
  }

  get statuses(): string[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1] ?? "");
  }

  async request(count = 1): Promise<string[]> {
    const expected = this.statuses.length + count;
    this.socket.write(KEEP_ALIVE_REQUEST.repeat(count));
    await waitUntil(() => this.statuses.length >= expected || this.isClosed);
    return this.statuses.slice(expected - count);
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }
}

/** Starts a server with quick, slow and large routes, and opens connections to it. */
export async function startServer(t: TestContext, options: Partial<HttpServerOptions> = {}) {
  const clock = new FakeClock();
  const { app, lines } = await testServer({ clock, ...options });
  const sockets: Socket[] = [];
  app.server.on("connection", (socket) => sockets.push(socket));
  let requests = 0;
  app.server.on("request", () => {
    requests += 1;
  });
  defineRoute(app, { ...PUBLIC_ROUTE, url: "/hello", operationId: "hello", handler: () => ({ hello: true }) });
  assetRoutes(app, [LARGE_ASSET]);
  const started: { readonly release: () => void }[] = [];
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/slow",
    operationId: "slow",
    handler: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      started.push({ release: resolve });
      await promise;
      return { number: started.length };
    },
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/large",
    operationId: "large",
    handler: ({ reply }) => reply.type("application/octet-stream").send(LARGE_BODY),
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/stream",
    operationId: "stream",
    handler: ({ reply }) => {
      const chunks = (function* () {
        for (;;) yield CHUNK;
      })();
      return reply.type("application/octet-stream").send(Readable.from(chunks, { objectMode: false }));
    },
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/quiet-stream",
    operationId: "quiet_stream",
    handler: ({ reply }) => {
      reply.hijack();
      reply.raw.writeHead(200, { "content-type": "text/event-stream" }).write(": started\n\n");
    },
  });
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/flood",
    operationId: "flood",
    handler: ({ reply }) => {
      reply.hijack();
      reply.raw.writeHead(200);
      // Ignores backpressure, up to 12 MiB.
      for (let written = 0; written < 192; written++) reply.raw.write(CHUNK);
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const open = async (localAddress = "127.0.0.1", { allowHalfOpen = false } = {}) => {
    const count = sockets.length;
    const client = new Client(connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen }));
    t.after(() => client.close());
    await once(client.socket, "connect");
    await waitUntil(() => sockets.length > count);
    return { client, serverSocket: sockets.at(-1) as Socket };
  };
  const openReader = async (localAddress?: string) => (await open(localAddress)).client.readAll();
  /** Waits until the kernel accepts no more bytes from the server. */
  const settleWrites = async ({ serverSocket }: { readonly serverSocket: Socket }) => {
    await waitUntil(() => serverSocket.writableLength > 0);
    for (let count = 0; count < SETTLED_ITERATIONS; count++) await nextIteration();
  };
  /** Advances the clock by one sweep at a time, and waits for what each of them reads. */
  const sweepFor = async (durationMs: number) => {
    for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs += 2_000) {
      await clock.advance(2_000);
      await app.connectionLimits.idle();
    }
  };
  return {
    app,
    clock,
    lines,
    sweepFor,
    started,
    open,
    openReader,
    settleWrites,
    limits: app.connectionLimits,
    requests: () => requests,
  };
}
