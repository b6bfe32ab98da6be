import type { AddressInfo } from "node:net";
import { connect, type Socket } from "node:net";
import { createInProcessBus } from "../../../src/adapters/bus/in-process-bus.ts";
import { createStreaming, streamRoutes } from "../../../src/capabilities/events/streaming/index.ts";
import type { StreamingOptions } from "../../../src/capabilities/events/streaming/service.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { PLAN_ALLOWANCES } from "../../../src/domain/plan.ts";
import type { HttpServerOptions } from "../../../src/http/server.ts";
import { waitUntil } from "../asserts/wait-until.ts";
import { FakeClock } from "../fake-clock.ts";
import { atFileEnd } from "../file-end.ts";
import { quietLog } from "../quiet-log.ts";
import { testServer } from "../test-app.ts";
import { MemoryEventLog } from "./memory-event-log.ts";

export interface SentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** A client of a stream over a TCP connection. It parses events according to the HTML standard. */
export class StreamReader {
  readonly socket: Socket;
  head = "";
  /** Everything after the head. */
  body = "";
  isClosed = false;
  /** Time between reconnections that the server requested, milliseconds. */
  retryMs: number | null = null;
  readonly events: SentEvent[] = [];
  lastEventId = "";
  #rest = "";
  #fields: Record<string, string> = {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.once("close", () => {
      this.isClosed = true;
    });
    socket.on("data", (chunk) => this.#receive(chunk.toString()));
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d+)/.exec(this.head)?.[1] ?? 0);
  }

  header(name: string): string | undefined {
    return new RegExp(`^${name}: (.*)\r$`, "im").exec(this.head)?.[1];
  }

  get ids(): number[] {
    return this.events.map(({ id }) => Number(id));
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await waitUntil(() => this.isClosed);
  }

  #receive(text: string): void {
    if (this.head === "") {
      this.#rest += text;
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.head = this.#rest.slice(0, end + 2);
      const rest = this.#rest.slice(end + 4);
      this.#rest = "";
      this.#receive(rest);
      return;
    }
    this.body += text;
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#readLine(line);
  }

  #readLine(line: string): void {
    if (line === "") {
      const { id = this.lastEventId, event = "message", data } = this.#fields;
      this.#fields = {};
      this.lastEventId = id;
      if (data !== undefined) this.events.push({ id, event, data });
      return;
    }
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "retry") this.retryMs = Number(value);
    else if (name === "data" && this.#fields.data !== undefined) this.#fields.data += `\n${value}`;
    else if (name !== "") this.#fields[name] = value;
  }
}

/** Starts a server with the stream route on a fake clock. Any Bearer key is valid, and its text is also its id. */
export async function openStreamServer(
  options: Partial<StreamingOptions> & {
    readonly http?: Partial<HttpServerOptions>;
    readonly log?: MemoryEventLog;
  } = {},
) {
  const { http = {}, ...streamingOptions } = options;
  const clock = new FakeClock();
  const bus = createInProcessBus(quietLog);
  const log = options.log ?? new MemoryEventLog();
  log.bus = bus;
  const plans = new Map<string, Plan>();
  let plansReads = 0;
  const streaming = createStreaming({
    log,
    bus,
    clock,
    keysTopic: "keys",
    logger: quietLog,
    random: { uniform: () => 0.5, bytes: (length) => new Uint8Array(length) },
    readPlans: async (keyIds) => {
      plansReads += 1;
      return new Map(
        keyIds.map((keyId) => [keyId, plans.get(keyId) ?? "free"] as const).filter(([id]) => !revoked.has(id)),
      );
    },
    ...streamingOptions,
  });
  const revoked = new Set<string>();
  const { app } = await testServer({
    clock,
    authentication: {
      authenticate: (bearer) => ({
        kind: "customer",
        customerId: `cus-${bearer}`,
        keyId: bearer,
        plan: "free",
        allowance: PLAN_ALLOWANCES.free,
      }),
    },
    ...http,
  });
  streamRoutes(app, { streaming, venues: { trading: ["alpha", "beta"], all: ["alpha", "beta"] } });
  await app.listen({ host: "127.0.0.1", port: 0 });
  streaming.start();
  const { port } = app.server.address() as AddressInfo;
  const readers: StreamReader[] = [];
  const close = async () => {
    for (const reader of readers) reader.socket.destroy();
    await streaming.stop();
    await app.close();
  };
  atFileEnd(close);
  const request = (path: string, headers: Readonly<Record<string, string>> = {}, localAddress?: string) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    const reader = new StreamReader(socket);
    readers.push(reader);
    const fields = { host: "localhost", authorization: "Bearer key-1", ...headers };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    return reader;
  };
  return {
    app,
    bus,
    clock,
    log,
    streaming,
    plans,
    revoked,
    port,
    close,
    request,
    get plansReads() {
      return plansReads;
    },
    /** Opens a stream and waits for its first bytes. */
    async open(query = "", headers: Readonly<Record<string, string>> = {}, localAddress?: string) {
      const reader = request(`/v1/stream${query}`, headers, localAddress);
      await waitUntil(() => reader.body.includes("retry: 3000\n\n") || reader.isClosed);
      return reader;
    },
  };
}
