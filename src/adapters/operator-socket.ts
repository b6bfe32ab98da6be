import { chmod, rm } from "node:fs/promises";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Log } from "../ports/log.ts";

const FILE = "operator.sock";
/** What the system takes as the address of such a socket. */
const PATH_BYTES_MAX = 100;
const CONNECTIONS_MAX = 8;
const REQUEST_BYTES_MAX = 64 * 1024;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const WAIT_MS_MAX = 30_000;

/** Nobody answers for the data directory. */
export class OperatorSocketError extends Error {
  override readonly name = "OperatorSocketError";
}

/**
 * Answers operators' programs on this machine while this process holds the data directory: one JSON line each way, on a
 * socket in that directory that its owner alone may open. Whoever can open it could as well open the store's files.
 *
 * @returns ends it
 */
export async function listenOnOperatorSocket(
  dataDir: string,
  answer: (request: unknown) => Promise<unknown>,
  log: Log,
): Promise<() => Promise<void>> {
  const path = join(dataDir, FILE);
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
    log.warn(
      { bytes: PATH_BYTES_MAX },
      "the data directory's path is too long for a socket: stop the service to change customers",
    );
    return async () => {};
  }
  // Left behind by a process that was killed: the lock on the directory says that none is alive.
  await rm(path, { force: true });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => {});
    readLine(socket, REQUEST_BYTES_MAX)
      .then((line) => answer(JSON.parse(line)))
      .then((reply) => socket.end(`${JSON.stringify(reply)}\n`))
      .catch((error: unknown) => {
        log.warn({ err: error }, "an operator's command failed");
        socket.destroy();
      });
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  server.unref();
  return async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
}

/** Asks the process that holds the data directory. @throws OperatorSocketError */
export async function askOperatorSocket(dataDir: string, request: unknown): Promise<unknown> {
  const socket = createConnection(join(dataDir, FILE));
  try {
    socket.write(`${JSON.stringify(request)}\n`);
    return JSON.parse(await readLine(socket, ANSWER_BYTES_MAX));
  } catch (cause) {
    throw new OperatorSocketError("The process that holds the data directory does not answer.", { cause });
  } finally {
    socket.destroy();
  }
}

/** The first line, within bounds of length and time. */
function readLine(socket: Socket, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    socket.setTimeout(WAIT_MS_MAX, () => reject(new Error("no whole line came in time")));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the other side ended before its line did")));
    socket.on("data", (chunk: Buffer) => {
      const end = chunk.indexOf(10);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      size += chunk.length;
      if (size > bytesMax) reject(new Error(`a line of over ${bytesMax} bytes`));
      else if (end >= 0) resolve(Buffer.concat(chunks).toString("utf8"));
    });
  });
}
