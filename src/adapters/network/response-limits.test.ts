import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { request } from "undici";
import { createLimitedFetch } from "../language-model/bounded-fetch.ts";
import { systemClock } from "../system/system-clock.ts";
import { createLimitedAgent, limitResponse, ResponseLimitError } from "./response-limits.ts";
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

  test(`an endless row of interim responses ends the request (${name})`, async () => {
    const url = await flood("", INTERIM);
    await assert.rejects(read(url), ResponseLimitError);
  });

  test(`an endless body in pieces of one byte ends the request (${name})`, async () => {
    const url = await flood(HEAD, "1\r\nx\r\n");
    await assert.rejects(read(url), ResponseLimitError);
  });

  test(`a body of 2,048 pieces of one byte is read, and one of 3,000 ends the request (${name})`, async () => {
    const piece = "1\r\nx\r\n";
    assert.equal((await read(await flood(HEAD + piece.repeat(2_048) + END, ""))).length, 2_048);
    await assert.rejects(read(await flood(HEAD + piece.repeat(3_000) + END, "")), ResponseLimitError);
  });

  test(`a body in pieces of 20 bytes is read (${name})`, async () => {
    const piece = `14\r\n${"y".repeat(20)}\r\n`;
    assert.equal((await read(await flood(HEAD + piece.repeat(5_000) + END, ""))).length, 100_000);
  });

  test(`an endless extension of a chunk ends the request (${name})`, async () => {
    const url = await flood(`${HEAD}1;`, "e=eeeeeeeeeeeeeeee;");
    await assert.rejects(read(url));
  });

  test(`endless trailers end the request (${name})`, async () => {
    const url = await flood(`${HEAD}0\r\n`, "x-trailer: eeeeeeeeeeeeeee\r\n");
    await assert.rejects(read(url));
  });
}

test("an endless row of interim responses ends a call of a model and the handshake of a WebSocket", async () => {
  const url = await flood("", INTERIM);
  await assert.rejects(createLimitedFetch()(url));
  const closed = Promise.withResolvers<string>();
  createWsSockets(systemClock).connect(
    url.replace("http", "ws"),
    { headers: {}, maxFrameBytes: 1_000, connectTimeoutMs: 60_000 },
    { onOpen: () => {}, onMessage: () => {}, onPing: () => {}, onClose: closed.resolve },
  );
  assert.match(await closed.promise, /interim/);
});
