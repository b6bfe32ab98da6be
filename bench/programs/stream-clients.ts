/**
 * Child process: opens many clients of an event stream. A client that loses its connection reconnects with
 * `Last-Event-ID`.
 *
 * argv: `port`, `clientCount`, `stalledCount` (clients that never read), `openingMax` (connections opened at the same time).
 *
 * Commands over IPC:
 * - `drop` resets `count` random connections.
 * - `collect` replies with the counts and lags since the previous `collect`, and with the smallest last event id.
 */
import { connect, type Socket } from "node:net";

const [port = "", clientCount = "", stalledCount = "0", openingMax = "64"] = process.argv.slice(2);
const DATA_PREFIX = "data: ";
const RECONNECT_MS_MAX = 500;
const READY_CHECK_MS = 50;

const now = () => performance.timeOrigin + performance.now();

interface Client {
  readonly isStalled: boolean;
  socket: Socket | null;
  rest: string;
  lastId: number;
  isOpen: boolean;
}

let lags: number[] = [];
let totals = { received: 0, gaps: 0, duplicates: 0, resets: 0, reconnects: 0, closedStalled: 0 };
const waiting: Client[] = [];
let opening = 0;

function openNext(): void {
  while (opening < Number(openingMax)) {
    const client = waiting.shift();
    if (client === undefined) return;
    opening += 1;
    open(client);
  }
}

function open(client: Client): void {
  const socket = connect({ port: Number(port), host: "127.0.0.1" });
  client.socket = socket;
  client.rest = "";
  let isOpening = true;
  const endOpening = () => {
    if (!isOpening) return;
    isOpening = false;
    opening -= 1;
    openNext();
  };
  const position = client.lastId === 0 ? "" : `last-event-id: ${client.lastId}\r\n`;
  socket.write(`GET /v1/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer key\r\n${position}\r\n`);
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    if (!client.isOpen) {
      client.isOpen = true;
      endOpening();
      if (client.isStalled) socket.pause();
    }
    receive(client, text);
  });
  socket.on("error", () => {});
  socket.once("close", () => {
    endOpening();
    client.isOpen = false;
    if (client.isStalled) {
      totals.closedStalled += 1;
      return;
    }
    totals.reconnects += 1;
    setTimeout(() => {
      waiting.push(client);
      openNext();
    }, Math.random() * RECONNECT_MS_MAX);
  });
}

function receive(client: Client, text: string): void {
  const receivedAt = now();
  const lines = (client.rest + text).split("\n");
  client.rest = lines.pop() ?? "";
  for (const line of lines) {
    if (!line.startsWith(DATA_PREFIX)) continue;
    const event = JSON.parse(line.slice(DATA_PREFIX.length)) as { id: string; type: string; sent_at: number };
    const id = Number(event.id);
    if (event.type === "reset") totals.resets += 1;
    else {
      totals.received += 1;
      if (client.lastId !== 0 && id > client.lastId + 1) totals.gaps += 1;
      if (id <= client.lastId) totals.duplicates += 1;
      if (!client.isStalled) lags.push(receivedAt - event.sent_at);
    }
    client.lastId = id;
  }
}

const clients: Client[] = Array.from({ length: Number(clientCount) }, (_, index) => ({
  isStalled: index < Number(stalledCount),
  socket: null,
  rest: "",
  lastId: 0,
  isOpen: false,
}));
waiting.push(...clients);
openNext();

const ready = setInterval(() => {
  if (!clients.every(({ isOpen }) => isOpen)) return;
  clearInterval(ready);
  process.send?.({ isReady: true });
}, READY_CHECK_MS);

process.on("message", (command: { readonly kind: "drop" | "collect"; readonly count?: number }) => {
  if (command.kind === "drop") {
    for (let dropped = 0; dropped < (command.count ?? 0); dropped++)
      clients[Math.floor(Math.random() * clients.length)]?.socket?.resetAndDestroy();
    return;
  }
  const sorted = Float64Array.from(lags).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
  const lastIds = clients.filter(({ isStalled }) => !isStalled).map(({ lastId }) => lastId);
  const lastId = lastIds.reduce((lowest, id) => Math.min(lowest, id), Number.POSITIVE_INFINITY);
  process.send?.({ ...totals, lastId, p50: at(0.5), p99: at(0.99), max: at(1) });
  lags = [];
  totals = { received: 0, gaps: 0, duplicates: 0, resets: 0, reconnects: 0, closedStalled: 0 };
});
