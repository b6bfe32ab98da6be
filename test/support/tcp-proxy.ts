import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy whose connections a test can interrupt. */
export interface TcpProxy {
  /** The server's URL with the address of the proxy. */
  readonly url: string;
  /** Resets every connection, and resets each new connection immediately. */
  refuse(): void;
  /** Keeps connections open and accepts new connections, but discards all data. */
  blackhole(): void;
  /** Forwards data again. Existing connections are reset, as after a restart of the server. */
  restore(): void;
  /** Number of open sockets on both sides. */
  readonly connections: number;
  /** Number of connections accepted since the start. */
  readonly accepted: number;
  /** Number of discarded chunks from clients. */
  readonly discardedChunks: number;
  close(): Promise<void>;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "postgres:": 5_432, "postgresql:": 5_432, "redis:": 6_379 };

/** Forwards connections on 127.0.0.1 to a server until the test interrupts them. */
export async function startTcpProxy(serverUrl: string): Promise<TcpProxy> {
  const { protocol, hostname, port } = new URL(serverUrl);
  const target = { host: hostname, port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) };
  const sockets = new Set<Socket>();
  let mode: "forwarding" | "refusing" | "discarding" = "forwarding";
  let acceptedConnections = 0;
  let discardedChunks = 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  const resetAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = createServer((client) => {
    acceptedConnections += 1;
    track(client);
    if (mode === "refusing") {
      client.resetAndDestroy();
      return;
    }
    if (mode === "discarding") {
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
        if (mode === "forwarding") to.write(chunk);
        else if (from === client) discardedChunks += 1;
      });
      from.on("close", () => {
        if (mode !== "discarding") to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const url = new URL(serverUrl);
  url.hostname = address.address;
  url.port = String(address.port);
  return {
    url: url.href,
    refuse() {
      mode = "refusing";
      resetAll();
    },
    blackhole() {
      mode = "discarding";
    },
    restore() {
      resetAll();
      mode = "forwarding";
    },
    get connections() {
      return sockets.size;
    },
    get accepted() {
      return acceptedConnections;
    },
    get discardedChunks() {
      return discardedChunks;
    },
    async close() {
      resetAll();
      server.close();
      await once(server, "close");
    },
  };
}
