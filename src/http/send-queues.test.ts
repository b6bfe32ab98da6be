import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readSendQueues } from "./send-queues.ts";

const LINUX_ONLY = { skip: process.platform !== "linux" };

/** Opens a connection to a server at `host`, whose client reads nothing, and returns the server's socket. */
async function openUnread(t: TestContext, host: string): Promise<Socket> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const accepted = once(server, "connection");
  const client = connect({ port: (server.address() as AddressInfo).port, host }).pause();
  const [socket] = (await accepted) as [Socket];
  t.after(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return socket;
}

test("reads the number of bytes that a client has not acknowledged, for IPv4 and IPv6", LINUX_ONLY, async (t) => {
  const idle = await openUnread(t, "127.0.0.1");
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const hosts = ["127.0.0.1", "::1"].filter((host) => addresses.some(({ address }) => address === host));
  const full = await Promise.all(hosts.map((host) => openUnread(t, host)));
  for (const socket of full) socket.write(Buffer.alloc(32 * 1024 * 1024));
  const queues = await readSendQueues([idle, ...full]);
  assert.equal(queues.get(idle), 0);
  for (const socket of full) assert.ok((queues.get(socket) ?? 0) > 0);
});

test("a list of connections above 4 MiB is not used", LINUX_ONLY, async (t) => {
  const socket = await openUnread(t, "127.0.0.1");
  const directory = await mkdtemp(join(tmpdir(), "send-queues-"));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, "tcp");
  const { _handle } = socket as unknown as { readonly _handle: { readonly fd: number } };
  const inode = String((await stat(`/proc/self/fd/${_handle.fd}`)).ino);
  const line = `  0: 0100007F:0001 0100007F:0002 01 00000010:00000000 00:00000000 00000000     0        0 ${inode} 1\n`;
  await writeFile(path, line);
  assert.equal((await readSendQueues([socket], [path])).get(socket), 16);
  await writeFile(path, line + " ".repeat(4 * 1024 * 1024));
  assert.equal((await readSendQueues([socket], [path])).size, 0);
});

test("returns no entry for a connection if the list of connections is missing or the connection is closed", async (t) => {
  const socket = await openUnread(t, "127.0.0.1");
  assert.equal((await readSendQueues([socket], ["/does/not/exist"])).size, 0);
  socket.destroy();
  assert.equal((await readSendQueues([socket])).size, 0);
  const withoutFile = { _handle: { fd: 2 ** 30 } } as unknown as Socket;
  assert.equal((await readSendQueues([withoutFile])).size, 0);
});
