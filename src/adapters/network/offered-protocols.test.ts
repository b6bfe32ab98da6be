import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import tls from "node:tls";
import { TEST_CERTIFICATE } from "../../../test/support/webhooks/certificate.ts";
import { createLimitedFetch } from "../language-model/bounded-fetch.ts";
import { systemClock } from "../system/system-clock.ts";
import { fetchPage } from "../web/fetch-page.ts";
import { createSmtpMail } from "./smtp-mail.ts";
import { createSocketIoClient } from "./socket-io-client.ts";
import { createUndiciHttp } from "./undici-http.ts";
import { createWebhookHttp } from "./webhook-http.ts";
import { createWsSockets } from "./ws-socket.ts";

const TIMEOUT_MS = 60_000;

let offered: string[] = [];
/** Its certificate is not trusted, so every connection ends during or after the handshake. */
const server = tls.createServer(
  {
    ...TEST_CERTIFICATE,
    ALPNCallback: ({ protocols }) => {
      offered.push(...protocols);
      return protocols[0];
    },
  },
  (socket) => socket.on("error", () => {}).destroy(),
);
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const origin = `https://127.0.0.1:${port}/`;

const http = createUndiciHttp(systemClock);
const webhooks = createWebhookHttp(systemClock, { allowsLoopback: true, hostRate: 1_000 });
const mail = createSmtpMail(systemClock, { url: `smtps://127.0.0.1:${port}`, from: "a@parallax.example" });
after(async () => {
  await Promise.all([http.close(), webhooks.close(), mail.close()]);
  server.close();
});

function openWebSocket(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  createWsSockets(systemClock).connect(
    origin.replace("https", "wss"),
    { headers: {}, maxFrameBytes: 1_000, connectTimeoutMs: TIMEOUT_MS },
    { onOpen: () => {}, onMessage: () => {}, onPing: () => {}, onClose: resolve },
  );
  return promise;
}

async function openSocketIo(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const connection = createSocketIoClient(systemClock).connect(
    origin.replace("https", "wss"),
    { namespace: "/markets", maxFrameBytes: 1_000, connectTimeoutMs: TIMEOUT_MS },
    { onUp: () => {}, onEvent: () => {}, onDown: resolve },
  );
  await promise;
  connection.close();
}

/** Opens a TLS connection of each kind. It resolves or rejects when the connection has ended. */
const CONNECTIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  "a request to a venue or a facilitator": () =>
    http.send({ url: origin, method: "GET", headers: {}, maxBodyBytes: 1_000, deadlineMs: TIMEOUT_MS }),
  "a call of a model": () => createLimitedFetch()(origin),
  "a request for a page": () =>
    fetchPage(origin, new AbortController().signal, { allowsLoopback: true, ports: [`${port}`] }),
  "a webhook": () => webhooks.post({ url: origin, headers: {}, body: "{}", deadlineMs: TIMEOUT_MS }),
  "a WebSocket": openWebSocket,
  "a Socket.IO connection": openSocketIo,
  "an e-mail": () => mail.send({ to: "b@example.org", subject: "s", text: "t", html: "h" }),
};

/** Returns the protocols that a connection offers by ALPN. */
async function protocolsOf(connect: () => Promise<unknown>): Promise<readonly string[]> {
  offered = [];
  const handshake = Promise.race([once(server, "secureConnection"), once(server, "tlsClientError")]);
  await Promise.all([handshake, connect().catch(() => {})]);
  return offered;
}

for (const [name, connect] of Object.entries(CONNECTIONS))
  test(`${name} offers no protocol but HTTP/1.1`, async () => {
    const others = (await protocolsOf(connect)).filter((protocol) => protocol !== "http/1.1");
    assert.deepEqual(others, []);
  });

test("the server of this test detects an offer of HTTP/2", async () => {
  const protocols = await protocolsOf(async () => {
    const socket = tls.connect({ host: "127.0.0.1", port, ALPNProtocols: ["h2", "http/1.1"] });
    await once(socket, "close").catch(() => {});
  });
  assert.deepEqual(protocols, ["h2", "http/1.1"]);
});
