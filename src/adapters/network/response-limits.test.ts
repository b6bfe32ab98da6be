import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { request } from "undici";
import { createLimitedFetch } from "../language-model/bounded-fetch.ts";
import { systemClock } from "../system/system-clock.ts";
import { createLimitedAgent, limitResponse, ResponseLimitError } from "./response-limits.ts";
import { createSocketIoClient } from "./socket-io-client.ts";
import { createWsSockets } from "./ws-socket.ts";

const INTERIM = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
const HEAD = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const END = "0\r\n\r\n";

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});

/** Opens a server that answers every request with `head`, and then sends `text` again and again until it is closed. */
async function flood(head: string, text: string): Promise<string> {
  const block = Buffer.from(text.repeat(text === "" ? 0 : Math.ceil(65_536 / text.length)));
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(head);
      const send = () => {
        if (!socket.destroyed) socket.write(block, send);
      };
      if (text !== "") send();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const agent = createLimitedAgent();
closers.push(() => agent.close());

async function readWithUndici(url: string): Promise<string> {
  const { body } = await request(url, { dispatcher: agent.dispatcher });
  return body.text();
}

function readWithNode(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = http.get(url, { agent: false }, async (response) => {
      try {
        const pieces: Buffer[] = [];
        for await (const piece of response) pieces.push(piece);
        resolve(Buffer.concat(pieces).toString());
      } catch (error) {
        reject(error);
      }
    });
    limitResponse(outgoing);
    outgoing.on("error", reject);
  });
}

const CLIENTS = { undici: readWithUndici, "node:http": readWithNode };

for (const [name, read] of Object.entries(CLIENTS)) {
  test(`four interim responses are accepted, and a fifth ends the request (${name})`, async () => {
    const answer = `${HEAD}2\r\nok\r\n${END}`;
    assert.equal(await read(await flood(INTERIM.repeat(4) + answer, "")), "ok");
    await assert.rejects(read(await flood(INTERIM.repeat(5) + answer, "")), ResponseLimitError);
  });

  test(`an endless series of interim responses ends the request (${name})`, async () => {
    const url = await flood("", INTERIM);
    await assert.rejects(read(url), ResponseLimitError);
  });

  test(`an endless body in pieces of one byte ends the request (${name})`, async () => {
    const url = await flood(HEAD, "1\r\nx\r\n");
    await assert.rejects(read(url), ResponseLimitError);
  });

  test(`a body of 256 one-byte pieces is read, and a body of 300 one-byte pieces ends the request (${name})`, async () => {
    const piece = "1\r\nx\r\n";
    assert.equal((await read(await flood(HEAD + piece.repeat(256) + END, ""))).length, 256);
    await assert.rejects(read(await flood(HEAD + piece.repeat(300) + END, "")), ResponseLimitError);
  });

  test(`a body in pieces of 20 bytes is read (${name})`, async () => {
    const piece = `14\r\n${"y".repeat(20)}\r\n`;
    assert.equal((await read(await flood(HEAD + piece.repeat(5_000) + END, ""))).length, 100_000);
  });

  test(`an endless chunk extension ends the request (${name})`, async () => {
    const url = await flood(`${HEAD}1;`, "e=eeeeeeeeeeeeeeee;");
    await assert.rejects(read(url));
  });

  test(`an endless header ends the request (${name})`, async () => {
    await assert.rejects(read(await flood("HTTP/1.1 200 OK\r\n", "x-header: eeeeeeeeeeeeeee\r\n")));
    await assert.rejects(read(await flood("HTTP/1.1 200 OK\r\nx-header: ", "eeeeeeeeeeeeeeee")));
  });

  test(`endless trailers end the request (${name})`, async () => {
    const url = await flood(`${HEAD}0\r\n`, "x-trailer: eeeeeeeeeeeeeee\r\n");
    await assert.rejects(read(url));
  });
}

test("if one read contains 1,500 interim responses, at most 20 of them are parsed", async () => {
  const url = await flood(INTERIM.repeat(1_500), "");
  let nodeCount = 0;
  const outgoing = http.get(url, { agent: false });
  limitResponse(outgoing);
  outgoing.on("information", () => {
    nodeCount += 1;
  });
  const [error] = await once(outgoing, "error");
  assert.ok(error instanceof ResponseLimitError);
  assert.ok(nodeCount >= 5 && nodeCount <= 20, `${nodeCount} of 1,500 were parsed by node:http`);

  let undiciCount = 0;
  const count = () => {
    undiciCount += 1;
  };
  subscribe("undici:request:headers", count);
  closers.push(() => unsubscribe("undici:request:headers", count));
  await assert.rejects(readWithUndici(url), ResponseLimitError);
  assert.ok(undiciCount >= 5 && undiciCount <= 20, `${undiciCount} of 1,500 were parsed by undici`);
});

test("after a protocol upgrade, pieces of more than 512 bytes are read", async () => {
  const head = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
  const url = await flood(head, "a".repeat(1_024));
  const outgoing = http.get(url, { agent: false, headers: { connection: "upgrade", upgrade: "x" } });
  limitResponse(outgoing);
  const [, socket] = await once(outgoing, "upgrade");
  let lengthMax = 0;
  for (let pieces = 0; pieces < 100 && lengthMax <= 512; pieces++) {
    const [piece] = await once(socket, "data");
    lengthMax = Math.max(lengthMax, piece.length);
  }
  socket.destroy();
  assert.ok(lengthMax > 512, `${lengthMax} bytes`);
});

test("frames that arrive with the response of a WebSocket handshake are read completely", async () => {
  const frame = Buffer.concat([Buffer.from([0x81, 126, 0x03, 0xe8]), Buffer.alloc(1_000, "a")]);
  const server = createServer((socket: Socket) => {
    socket.once("data", (head) => {
      const key = /sec-websocket-key: (.+)\r/i.exec(head.toString())?.[1];
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const response = `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(response), ...Array<Buffer>(20).fill(frame)]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const messages: string[] = [];
  const isComplete = Promise.withResolvers<void>();
  const connection = createWsSockets(systemClock).connect(
    `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    { headers: {}, maxFrameBytes: 2_000, connectTimeoutMs: 60_000 },
    {
      onOpen: () => {},
      onMessage: (text) => {
        if (messages.push(text) === 20) isComplete.resolve();
      },
      onPing: () => {},
      onClose: (reason) => isComplete.reject(new Error(reason)),
    },
  );
  await isComplete.promise;
  assert.deepEqual(new Set(messages), new Set(["a".repeat(1_000)]));
  connection.close();
  server.close();
});

/** Opens a WebSocket and returns why it closed. */
function closeReasonOfWebSocket(url: string): Promise<string> {
  const closed = Promise.withResolvers<string>();
  createWsSockets(systemClock).connect(
    url.replace("http", "ws"),
    { headers: {}, maxFrameBytes: 1_000, connectTimeoutMs: 600_000 },
    { onOpen: () => {}, onMessage: () => {}, onPing: () => {}, onClose: closed.resolve },
  );
  return closed.promise;
}

/** Opens a Socket.IO connection and waits until the handshake has failed. */
async function failSocketIo(url: string): Promise<void> {
  const down = Promise.withResolvers<string>();
  const connection = createSocketIoClient(systemClock).connect(
    url.replace("http", "ws"),
    { namespace: "/markets", maxFrameBytes: 1_000, connectTimeoutMs: 600_000 },
    { onUp: () => {}, onEvent: () => {}, onDown: down.resolve },
  );
  await down.promise;
  connection.close();
}

test("an endless series of interim responses ends a language-model request and a WebSocket handshake", async () => {
  const url = await flood("", INTERIM);
  await assert.rejects(createLimitedFetch()(url));
  assert.match(await closeReasonOfWebSocket(url), /interim/);
  await failSocketIo(url);
});

test("an endless header ends a language-model request and a WebSocket handshake", async () => {
  const url = await flood("HTTP/1.1 101 Switching Protocols\r\n", "x-header: eeeeeeeeeeeeeee\r\n");
  await assert.rejects(createLimitedFetch()(url));
  assert.match(await closeReasonOfWebSocket(url), /header/i);
  await failSocketIo(url);
});
