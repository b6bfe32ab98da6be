import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy whose connections a test can interrupt. */
export interface TcpProxy {
  readonly port: number;
  /** Closes every connection; new ones are accepted and reset immediately. */
  refuse(): void;
  /** Connections stay open and new ones are accepted, but all data is discarded. */
  blackhole(): void;
  /** Forwards data again. Existing connections are reset, as after a restart of the server. */
  restore(): void;
  /** Open sockets on both sides. */
  readonly connections: number;
  /** Connections accepted since the start. */
  readonly accepted: number;
  /** Chunks from clients that were discarded. */
  readonly discardedChunks: number;
  close(): Promise<void>;
}

/** Forwards connections on 127.0.0.1 to a server until the test interrupts them. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let mode: "passing" | "refusing" | "silent" = "passing";
  let accepted = 0;
  let swallowed = 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  const resetAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = createServer((client) => {
    accepted += 1;
    track(client);
    if (mode === "refusing") {
      client.resetAndDestroy();
      return;
    }
    if (mode === "silent") {
      client.resume();
      return;
    }
    const upstream = connect(target);
    track(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("data", (chunk: Buffer) => {
        if (mode === "passing") to.write(chunk);
        else if (from === client) swallowed += 1;
      });
      from.on("close", () => {
        if (mode !== "silent") to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    port: address.port,
    refuse() {
      mode = "refusing";
      resetAll();
    },
    blackhole() {
      mode = "silent";
    },
    restore() {
      resetAll();
      mode = "passing";
    },
    get connections() {
      return sockets.size;
    },
    get accepted() {
      return accepted;
    },
    get discardedChunks() {
      return swallowed;
    },
    async close() {
      resetAll();
      server.close();
      await once(server, "close");
    },
  };
}
