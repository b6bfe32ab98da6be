import { chmod, mkdtemp, rename, rm } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";

const SOCKET_FILE = "operator.sock";
/** Maximum length of a Unix socket's path that all systems accept. */
const PATH_BYTES_MAX = 100;
const CONNECTIONS_MAX = 8;
/** Maximum size of a request or a response. Large enough for a command's input file and for a list of all pairs. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
const WAIT_MS_MAX = 30_000;
/** Pause between attempts to connect. A service that is starting listens within seconds. */
const RETRY_PAUSE_MS = 200;
const ATTEMPTS_MAX = 25;
/** Error codes of a connection attempt without permission. */
const DENIED_CODES: readonly unknown[] = ["EACCES", "EPERM"];
const NOT_LISTENING_CODES: readonly unknown[] = ["ENOENT", "ECONNREFUSED"];

/**
 * denied: this user has no permission to open the socket. absent: no process listens. silent: the service ended or
 * timed out before it responded. failed: the service could not execute the request.
 */
export type OperatorFailure = "denied" | "absent" | "silent" | "failed";

/** Thrown if the process that holds the data directory did not execute a request. */
export class OperatorSocketError extends Error {
  override readonly name = "OperatorSocketError";
  readonly failure: OperatorFailure;

  constructor(failure: OperatorFailure, cause: unknown) {
    super(`no response from the process that holds the data directory: ${failure}`, { cause });
    this.failure = failure;
  }
}

type Reply = { readonly answer: unknown } | { readonly failure: OperatorFailure };

/**
 * Serves operators' commands on this machine while this process holds the directory. Request and response are one
 * JSON line each, on a socket in that directory that only its owner can open. There is no other authentication, because
 * the owner can read the store's files. If the socket cannot be created, the service logs a warning and runs without
 * it.
 *
 * @param waitMs  maximum time without data on a connection
 * @returns a function that stops listening
 */
export async function listenOnOperatorSocket(
  dir: string,
  handle: (request: unknown) => Promise<unknown>,
  log: Log,
  waitMs = WAIT_MS_MAX,
): Promise<() => Promise<void>> {
  const path = join(dir, SOCKET_FILE);
  const openSockets = new Set<Socket>();
  const handleConnection = async (socket: Socket): Promise<Reply> => {
    try {
      return { answer: await handle(JSON.parse(await readLine(socket, MESSAGE_BYTES_MAX, waitMs))) };
    } catch (error) {
      log.warn({ err: error }, "an operator's command failed");
      return { failure: "failed" };
    }
  };
  const server = createServer((socket) => {
    openSockets.add(socket);
    socket.once("close", () => openSockets.delete(socket));
    socket.on("error", () => {});
    void handleConnection(socket).then((line) => socket.end(`${JSON.stringify(line)}\n`, () => socket.destroySoon()));
  });
  server.maxConnections = CONNECTIONS_MAX;
  try {
    if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new Error(`its path is longer than ${PATH_BYTES_MAX} bytes`);
    await listenPrivately(server, dir, path);
  } catch (error) {
    log.warn(
      { err: error },
      "the socket for operators' commands could not be created: this service accepts no commands",
    );
    return async () => {};
  }
  server.unref();
  return async () => {
    for (const socket of openSockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(path, { force: true });
  };
}

/**
 * Creates the socket in a private folder, restricts its permissions and then moves it, so that no other user can open
 * it in between. Replaces the socket of a killed process. The lock on the directory ensures that no other process uses
 * it.
 */
async function listenPrivately(server: Server, dir: string, path: string): Promise<void> {
  const folder = await mkdtemp(join(dir, ".o"));
  try {
    const draftPath = join(folder, "s");
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(draftPath, resolve);
    });
    await chmod(draftPath, 0o600);
    await rename(draftPath, path);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Sends a request to the process that listens in the directory and returns its response. While no process listens it
 * retries, because a service may be starting.
 *
 * @param attemptsMax  number of attempts, 200 ms apart; by default they take 5 seconds
 * @throws OperatorSocketError
 */
export async function requestOverOperatorSocket(
  dir: string,
  request: unknown,
  clock: Clock,
  attemptsMax = ATTEMPTS_MAX,
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await requestOnce(join(dir, SOCKET_FILE), request);
    } catch (error) {
      if (!(error instanceof OperatorSocketError) || error.failure !== "absent" || attempt === attemptsMax) throw error;
    }
    await clock.sleep(RETRY_PAUSE_MS);
  }
}

async function requestOnce(path: string, request: unknown): Promise<unknown> {
  const socket = createConnection(path);
  try {
    socket.write(`${JSON.stringify(request)}\n`);
    const reply = JSON.parse(await readLine(socket, MESSAGE_BYTES_MAX, WAIT_MS_MAX)) as Reply;
    if ("failure" in reply) throw new OperatorSocketError(reply.failure, null);
    return reply.answer;
  } catch (error) {
    if (error instanceof OperatorSocketError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : null;
    const failure = DENIED_CODES.includes(code) ? "denied" : NOT_LISTENING_CODES.includes(code) ? "absent" : "silent";
    throw new OperatorSocketError(failure, error);
  } finally {
    socket.destroy();
  }
}

/** Reads the first line. Rejects if the line is too long or does not arrive in time. */
function readLine(socket: Socket, bytesMax: number, waitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    socket.setTimeout(waitMs, () => reject(new Error("no complete line arrived in time")));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the connection closed before the end of the line")));
    socket.on("data", (chunk: Buffer) => {
      const lineEnd = chunk.indexOf(10);
      chunks.push(lineEnd < 0 ? chunk : chunk.subarray(0, lineEnd));
      size += chunk.length;
      if (size > bytesMax) reject(new Error(`the line is longer than ${bytesMax} bytes`));
      else if (lineEnd >= 0) resolve(Buffer.concat(chunks).toString("utf8"));
    });
  });
}
