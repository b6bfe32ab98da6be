import { chmod, mkdtemp, rename, rm } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";

const FILE = "operator.sock";
/** What the system takes as the address of such a socket. */
const PATH_BYTES_MAX = 100;
const CONNECTIONS_MAX = 8;
const REQUEST_BYTES_MAX = 64 * 1024;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const WAIT_MS_MAX = 30_000;
/** A service that starts listens within seconds. */
const KNOCK_EVERY_MS = 200;
const KNOCKS_MAX = 25;
/** What connecting fails with where the system does not let this user in. */
const DENIED: readonly unknown[] = ["EACCES", "EPERM"];
const NOT_LISTENING: readonly unknown[] = ["ENOENT", "ECONNREFUSED"];

/**
 * denied: this user may not open the socket. absent: nobody listens. silent: the other side ended, or took too long,
 * before its answer. failed: it could not do what it was asked.
 */
export type OperatorFailure = "denied" | "absent" | "silent" | "failed";

/** Who holds the data directory has not answered. */
export class OperatorSocketError extends Error {
  override readonly name = "OperatorSocketError";
  readonly failure: OperatorFailure;

  constructor(failure: OperatorFailure, cause: unknown) {
    super(`the data directory's holder gives no answer: ${failure}`, { cause });
    this.failure = failure;
  }
}

type Reply = { readonly answer: unknown } | { readonly failure: OperatorFailure };

/**
 * Answers operators' programs on this machine while this process holds the data directory: one JSON line each way, on a
 * socket in that directory that its owner alone may open. Whoever can open it could as well open the store's files.
 * Where there can be no socket, the service does without and says so.
 *
 * @param waitMs  how long a connection may be silent
 * @returns ends it
 */
export async function listenOnOperatorSocket(
  dataDir: string,
  answer: (request: unknown) => Promise<unknown>,
  log: Log,
  waitMs = WAIT_MS_MAX,
): Promise<() => Promise<void>> {
  const path = join(dataDir, FILE);
  const open = new Set<Socket>();
  const reply = async (socket: Socket): Promise<Reply> => {
    try {
      return { answer: await answer(JSON.parse(await readLine(socket, REQUEST_BYTES_MAX, waitMs))) };
    } catch (error) {
      log.warn({ err: error }, "an operator's command failed");
      return { failure: "failed" };
    }
  };
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => {});
    void reply(socket).then((line) => socket.end(`${JSON.stringify(line)}\n`, () => socket.destroySoon()));
  });
  server.maxConnections = CONNECTIONS_MAX;
  try {
    if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new Error(`its path has over ${PATH_BYTES_MAX} bytes`);
    await listenPrivately(server, dataDir, path);
  } catch (error) {
    log.warn({ err: error }, "there is no socket for operators' commands: stop the service to change customers");
    return async () => {};
  }
  server.unref();
  return async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(path, { force: true });
  };
}

/**
 * Made in a folder that nobody else may enter, and moved once only its owner may open it, so that there is no moment for
 * others. It takes the place of one that a killed process left behind: the lock on the directory says that none is alive.
 */
async function listenPrivately(server: Server, dataDir: string, path: string): Promise<void> {
  const folder = await mkdtemp(join(dataDir, ".o"));
  try {
    const draft = join(folder, "s");
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(draft, resolve);
    });
    await chmod(draft, 0o600);
    await rename(draft, path);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Asks the process that holds the data directory. While nobody listens it asks again for some seconds: a service may be
 * starting.
 *
 * @throws OperatorSocketError
 */
export async function askOperatorSocket(dataDir: string, request: unknown, clock: Clock): Promise<unknown> {
  for (let knock = 1; ; knock++) {
    try {
      return await askOnce(join(dataDir, FILE), request);
    } catch (error) {
      if (!(error instanceof OperatorSocketError) || error.failure !== "absent" || knock === KNOCKS_MAX) throw error;
    }
    await clock.sleep(KNOCK_EVERY_MS);
  }
}

async function askOnce(path: string, request: unknown): Promise<unknown> {
  const socket = createConnection(path);
  try {
    socket.write(`${JSON.stringify(request)}\n`);
    const reply = JSON.parse(await readLine(socket, ANSWER_BYTES_MAX, WAIT_MS_MAX)) as Reply;
    if ("failure" in reply) throw new OperatorSocketError(reply.failure, null);
    return reply.answer;
  } catch (error) {
    if (error instanceof OperatorSocketError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : null;
    const failure = DENIED.includes(code) ? "denied" : NOT_LISTENING.includes(code) ? "absent" : "silent";
    throw new OperatorSocketError(failure, error);
  } finally {
    socket.destroy();
  }
}

/** The first line, within bounds of length and time. */
function readLine(socket: Socket, bytesMax: number, waitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    socket.setTimeout(waitMs, () => reject(new Error("no whole line came in time")));
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
