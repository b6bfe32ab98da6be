import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Answers a request. Without an answer, the connection stays open. */
type Behaviour = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

/** A receiver of webhooks on loopback that keeps what it received, and answers 200 unless told otherwise. */
export async function openReceiver(behaviour: Behaviour = (_received, response) => response.end()) {
  const received: Received[] = [];
  const state = { behaviour };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = request.headers as Record<string, string>;
      const body = Buffer.concat(chunks).toString();
      const entry = { path: request.url ?? "", headers, body, at: Date.now() };
      received.push(entry);
      state.behaviour(entry, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    state,
    /** Ids of the received events on a path, in the order of arrival. */
    idsOn: (path: string) => received.filter((entry) => entry.path === path).map(({ body }) => JSON.parse(body).id),
    close(): Promise<void> {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
