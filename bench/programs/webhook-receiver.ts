/**
 * Receives webhooks for bench/webhooks.ts, in a process of its own: `webhook-receiver.ts <secret>`.
 *
 * A request to `/ok/N` gets 200. A request to `/dead/N` gets no response. A request to `/faulty/N` gets 200 or, with a
 * probability of 30%, one of five faults. On the message "collect", the process sends its totals, and the lags since the
 * last such message.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

const FAULT_SHARE = 0.3;
const verifier = new Webhook(process.argv[2] ?? "");
const bodies = new Map<string, string>();
/** Events that were answered 200, by path. */
const accepted = new Map<string, Set<string>>();
const highest = new Map<string, number>();
let lags: number[] = [];
const totals = { unanswered: 0, requests: 0, invalid: 0, changedBodies: 0, disordered: 0, faults: 0 };

const FAULTS: readonly ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(500).end(),
  (response) => response.writeHead(301, { location: "/ok/other" }).end(),
  (response) => response.writeHead(429).end(),
  (response) => response.socket?.resetAndDestroy(),
  // Sends nothing, so the sender reaches its deadline.
  () => {},
];

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("error", () => {});
  request.on("end", () => {
    const path = request.url ?? "";
    if (path.startsWith("/dead/")) {
      totals.unanswered += 1;
      return;
    }
    totals.requests += 1;
    record(path, Buffer.concat(chunks).toString(), request.headers as Record<string, string>, at);
    if (path.startsWith("/faulty/") && Math.random() < FAULT_SHARE) {
      totals.faults += 1;
      FAULTS[Math.floor(Math.random() * FAULTS.length)]?.(response);
      return;
    }
    const ids = accepted.get(path) ?? new Set();
    accepted.set(path, ids.add(request.headers["webhook-id"] as string));
    response.end();
  });
});

function record(path: string, body: string, headers: Record<string, string>, at: number): void {
  const id = headers["webhook-id"] ?? "";
  const key = `${path} ${id}`;
  const first = bodies.get(key);
  try {
    const event = verifier.verify(body, headers) as { readonly id: string; readonly sent_at: number };
    if (`evt_${event.id}` !== id) totals.invalid += 1;
    if (first === undefined) {
      lags.push(at - event.sent_at);
      if (Number(event.id) < (highest.get(path) ?? 0)) totals.disordered += 1;
      highest.set(path, Math.max(Number(event.id), highest.get(path) ?? 0));
    }
  } catch {
    totals.invalid += 1;
  }
  if (first === undefined) bodies.set(key, body);
  else if (first !== body) totals.changedBodies += 1;
}

server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on("message", () => {
  process.send?.({ ...totals, lags, accepted: [...accepted].map(([path, ids]) => [path, ids.size]) });
  lags = [];
});
process.on("disconnect", () => process.exit());
