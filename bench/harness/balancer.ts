import { once } from "node:events";
import { createServer, request, type Server } from "node:http";

const CHECK_EVERY_MS = 100;
const CHECK_MS_MAX = 1_000;

/** A load balancer that sends each request to a node whose `/readyz` is 200. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  add(nodeUrl: string): Promise<void>;
  remove(nodeUrl: string): void;
  /** Requests answered by each node. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Starts a balancer on a free port. It checks each node ten times a second and never repeats a request. */
export async function startBalancer(): Promise<Balancer> {
  const nodes = new Map<string, boolean>();
  const counts = new Map<string, number>();
  let turn = 0;
  const check = async (node: string) => {
    const isReady = await fetch(`${node}/readyz`, { signal: AbortSignal.timeout(CHECK_MS_MAX) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status === 200;
      },
      () => false,
    );
    if (nodes.has(node)) nodes.set(node, isReady);
  };
  const checks = setInterval(() => {
    for (const node of nodes.keys()) void check(node);
  }, CHECK_EVERY_MS);
  const server: Server = createServer((incoming, outgoing) => {
    const ready = [...nodes].flatMap(([node, isReady]) => (isReady ? [node] : []));
    const node = ready[turn++ % ready.length];
    if (node === undefined) {
      outgoing.writeHead(503, { "content-length": 0 }).end();
      return;
    }
    const { method, headers, url = "/" } = incoming;
    const forwarded = request(`${node}${url}`, { method, headers, agent: false }, (response) => {
      counts.set(node, (counts.get(node) ?? 0) + 1);
      const { connection: _connection, ...responseHeaders } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, responseHeaders);
      response.pipe(outgoing);
    });
    forwarded.on("error", () => {
      if (!outgoing.headersSent) outgoing.writeHead(502, { "content-length": 0 });
      outgoing.end();
    });
    incoming.pipe(forwarded);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the balancer has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    counts,
    async add(node) {
      nodes.set(node, false);
      await check(node);
    },
    remove: (node) => void nodes.delete(node),
    async [Symbol.asyncDispose]() {
      clearInterval(checks);
      server.closeAllConnections();
      server.close();
    },
  };
}
