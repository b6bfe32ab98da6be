/**
 * Child process: opens hostile connections to a port and keeps their number constant. It starts when a line arrives on
 * standard input and ends with the input; then it prints its counts as JSON. argv: the port, the kind of attack, the
 * number of connections, and the number of loopback addresses that they come from.
 */
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { HostileCounts, HostileKind } from "../harness/hostile-clients.ts";

const [port = "", kindText = "", connections = "", addresses = ""] = process.argv.slice(2);
const kind = kindText as HostileKind;
const TICK_MS = 100;
/** Connections opened per second, at the start and after the server has closed some. */
const OPENED_PER_SECOND_START = 1_000;
const OPENED_PER_SECOND = 100;
const DRIP_INTERVAL_MS = 1_000;
const PIPELINED_REQUESTS = 590;
const BODY_BYTES = 10_000;

const HOST = `host: 127.0.0.1:${port}\r\n`;
const PAGE_REQUEST = `GET /docs/errors HTTP/1.1\r\n${HOST}\r\n`;
const FIRST_BYTES: Readonly<Record<HostileKind, string>> = {
  pipelining: PAGE_REQUEST.repeat(PIPELINED_REQUESTS),
  idle: `GET /livez HTTP/1.1\r\n${HOST}\r\n`,
  slow_headers: `GET /livez HTTP/1.1\r\n${HOST}x-slow: `,
  slow_body: `POST /v1/customers/signup HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`,
};
/** Sent every second. A pipelining client notices only by writing that the server has closed its connection. */
const NEXT_BYTES: Readonly<Record<HostileKind, string>> = {
  pipelining: PAGE_REQUEST,
  idle: "",
  slow_headers: "a",
  slow_body: " ",
};

const open = new Set<Socket>();
const counts: HostileCounts = { opened: 0, closedByServer: 0, failed: 0, openAtEnd: 0 };

function openConnection(): void {
  const localAddress = `127.0.1.${1 + (counts.opened % Number(addresses))}`;
  const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress, noDelay: true });
  counts.opened += 1;
  open.add(socket);
  let isConnected = false;
  socket.on("connect", () => {
    isConnected = true;
    socket.write(FIRST_BYTES[kind]);
  });
  if (kind === "pipelining") socket.pause();
  else socket.resume();
  socket.on("error", () => {});
  socket.on("close", () => {
    open.delete(socket);
    if (isConnected) counts.closedByServer += 1;
    else counts.failed += 1;
  });
}

function start(): void {
  setInterval(() => {
    const isStart = counts.opened < Number(connections);
    const openedPerTick = ((isStart ? OPENED_PER_SECOND_START : OPENED_PER_SECOND) * TICK_MS) / 1_000;
    for (let count = 0; count < openedPerTick && open.size < Number(connections); count++) openConnection();
  }, TICK_MS);
  setInterval(() => {
    for (const socket of open) if (!socket.connecting && NEXT_BYTES[kind] !== "") socket.write(NEXT_BYTES[kind]);
  }, DRIP_INTERVAL_MS);
}

const input = createInterface({ input: process.stdin });
input.once("line", start);
input.once("close", () => {
  process.stdout.write(`${JSON.stringify({ ...counts, openAtEnd: open.size })}\n`, () => process.exit());
});
process.stdout.write("ready\n");
