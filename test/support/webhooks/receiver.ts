import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import type { Dial } from "../../../src/adapters/network/guarded-agent.ts";
import { TEST_CERTIFICATE } from "./certificate.ts";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  /** Connections since the start. */
  readonly connections: readonly net.Socket[];
  readonly requests: readonly ReceivedRequest[];
  /** Resolves when this many requests have arrived in full. */
  untilRequests(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on loopback that keeps the requests it receives. It has the test certificate if `isSecure`. */
export async function startReceiver(handle: http.RequestListener, { isSecure = false } = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const listen: http.RequestListener = async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const headers = incoming.headers as Record<string, string>;
    requests.push({ path: incoming.url ?? "", headers, body: Buffer.concat(chunks).toString() });
    handle(incoming, response);
    server.emit("received");
  };
  const server = isSecure ? https.createServer(TEST_CERTIFICATE, listen) : http.createServer(listen);
  return {
    ...(await listenAndCount(server)),
    requests,
    async untilRequests(count) {
      while (requests.length < count) await once(server, "received");
    },
  };
}

/** Starts a TCP server on loopback that sends and reads nothing by itself. */
export async function startTcpServer(handle: (socket: net.Socket) => void = () => {}) {
  return listenAndCount(net.createServer(handle));
}

async function listenAndCount(server: net.Server) {
  const connections: net.Socket[] = [];
  server.on("connection", (socket: net.Socket) => {
    connections.push(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: connections as readonly net.Socket[],
    async close() {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * Returns a dial that connects to a port on loopback whatever the addresses, so that no packet leaves this machine. Its
 * sockets report the first address as their peer.
 */
export function dialLoopback(port: number): { readonly dial: Dial; readonly dialled: readonly string[][] } {
  const dialled: string[][] = [];
  return {
    dialled,
    dial(addresses) {
      dialled.push([...addresses]);
      const socket = net.connect({ host: "127.0.0.1", port });
      Object.defineProperty(socket, "remoteAddress", { value: addresses[0] });
      return socket;
    },
  };
}
