/**
 * Child process: the attackers of bench/attacks.ts. argv: the URL of the service and the attackers' API keys, separated by
 * commas. The message "start <attack as JSON>" registers the webhooks of the attack and starts its requests. The message "stop"
 * removes and stops them. Each message is answered with the counts since the last one.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, type AttackCounts, attackersOf } from "../harness/attackers.ts";

const [serviceUrl = "", keyList = ""] = process.argv.slice(2);
const keys = keyList.split(",");
const SLOW_MS = 9_500;
const FAILED_PAUSE_MS = 50;

const INTERIM = "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n";
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
/** First bytes of an endless response, and the bytes that are then repeated. */
const FLOODS: readonly { readonly first: string; readonly repeated: string }[] = [
  { first: "", repeated: INTERIM.repeat(256) },
  { first: `${CHUNKED}0\r\n`, repeated: "x-trailer: a\r\n".repeat(1_024) },
  { first: `${CHUNKED}1`, repeated: ";extension=a".repeat(1_024) },
  { first: CHUNKED, repeated: "1\r\na\r\n".repeat(2_048) },
  { first: "HTTP/1.1 200 OK\r\n", repeated: "x-header: a\r\n".repeat(1_024) },
];

const counts: AttackCounts = { responses: 0, statuses: {} };
let isRunning = false;
let loops: Promise<void>[] = [];
let webhooks: { readonly key: string; readonly id: string }[] = [];

function flood(socket: Socket, { first, repeated }: { readonly first: string; readonly repeated: string }): void {
  const write = () => {
    while (!socket.destroyed && socket.write(repeated));
  };
  socket.on("drain", write);
  socket.write(first);
  write();
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    const [, kind, index] = /^POST \/(\w+)\/(\d+) /.exec(chunk.toString("latin1")) ?? [];
    if (kind === undefined) return;
    counts.responses += 1;
    const floodKind = FLOODS[Number(index) % FLOODS.length];
    if (kind === "flood" && floodKind !== undefined) flood(socket, floodKind);
    else
      setTimeout(() => {
        if (!socket.destroyed) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
      }, SLOW_MS);
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

/** Registers one webhook per element of `owners`, which are indexes of keys. */
async function register(kind: "flood" | "slow", owners: readonly number[]): Promise<void> {
  for (const [index, owner] of owners.entries()) {
    const key = keys[owner] ?? "";
    const response = await fetch(`${serviceUrl}/v1/webhooks`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ url: `http://127.0.0.1:${port}/${kind}/${index}`, events: ["whale_alert"] }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`registering a webhook returned ${response.status}: ${text}`);
    webhooks.push({ key, id: JSON.parse(text).webhook_id });
  }
}

async function removeWebhooks(): Promise<void> {
  for (const { key, id } of webhooks)
    await fetch(`${serviceUrl}/v1/webhooks/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${key}` } });
  webhooks = [];
}

/** Ids that no market has, in the format of each venue except the reference venue. */
const UNKNOWN_IDS: readonly ((index: number) => string)[] = [
  (index) => `kalshi/KXNONE-${index}`,
  (index) => `polymarket/9${String(index).padStart(8, "0")}`,
  (index) => `limitless/no-such-market-${index}`,
];

async function requestUnknown(loop: number, loopCount: number): Promise<void> {
  const headers = { authorization: `Bearer ${keys.at(-1)}` };
  for (let index = loop; isRunning; index += loopCount) {
    const id = UNKNOWN_IDS[Math.floor(index / loopCount) % UNKNOWN_IDS.length]?.(index);
    try {
      const response = await fetch(`${serviceUrl}/v1/markets/${id}${index % 2 === 0 ? "/orderbook" : ""}`, { headers });
      await response.arrayBuffer();
      counts.statuses[response.status] = (counts.statuses[response.status] ?? 0) + 1;
    } catch {
      counts.statuses.failed = (counts.statuses.failed ?? 0) + 1;
      await sleep(FAILED_PAUSE_MS);
    }
  }
}

async function start(attack: Attack): Promise<void> {
  isRunning = true;
  const attackers = attackersOf(attack);
  await register("flood", attackers.floods);
  await register("slow", attackers.slow);
  loops = Array.from({ length: attack.unknown }, (_, loop) => requestUnknown(loop, attack.unknown));
}

async function stop(): Promise<void> {
  isRunning = false;
  await Promise.all(loops);
  loops = [];
  await removeWebhooks();
}

process.on("message", async (message: string) => {
  const [command, attack] = message.split(" ");
  if (command === "start" && attack !== undefined) await start(JSON.parse(attack) as Attack);
  else await stop();
  process.send?.(counts);
  counts.responses = 0;
  counts.statuses = {};
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
