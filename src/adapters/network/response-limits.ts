import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Agent, buildConnector, type Dispatcher } from "undici";

/** Maximum number of interim responses (status 1xx) before a response. Servers send one or two. */
const INTERIM_RESPONSES_MAX = 4;
/** Number of pieces of a body that may have any size. With more pieces, the average size must be at least 16 bytes. */
const SMALL_PIECES_MAX = 256;
const PIECE_BYTES_MIN = 16;
/**
 * Maximum number of bytes that a connection may receive in a quarter of a second. It includes bytes that no other limit
 * counts, such as chunk extensions. The largest response of a venue has 3 MB.
 */
const BYTES_PER_PERIOD_MAX = 8 * 2 ** 20;
const PERIOD_MS = 250;
const CONNECT_MS_MAX = 10_000;
/**
 * Maximum number of bytes passed to the parser of `node:http` at once. A read from a socket has up to 64 KiB and can
 * contain 3,000 interim responses. The parser would report all of them, even if the request was aborted at the fifth.
 */
const PARSED_BYTES_MAX = 512;

/** Thrown for a response that would take too much CPU time to parse. */
export class ResponseLimitError extends Error {
  override name = "ResponseLimitError";
}

/** Counts the interim responses, pieces and bytes of one response. */
class ResponseCount {
  #interim = 0;
  #pieces = 0;
  #bytes = 0;

  /** @throws ResponseLimitError after four interim responses */
  addInterim(): void {
    this.#interim += 1;
    if (this.#interim > INTERIM_RESPONSES_MAX) throw new ResponseLimitError("too many interim responses");
  }

  /** @throws ResponseLimitError if the body arrives in pieces of a few bytes */
  addPiece(bytes: number): void {
    this.#pieces += 1;
    this.#bytes += bytes;
    if (this.#pieces > SMALL_PIECES_MAX + this.#bytes / PIECE_BYTES_MIN)
      throw new ResponseLimitError("the body arrives in too small pieces");
  }
}

/**
 * Aborts a request of `node:http` if its response exceeds the limits. The request or the response then fails with
 * ResponseLimitError.
 */
export function limitResponse(outgoing: ClientRequest): void {
  const count = new ResponseCount();
  outgoing.on("socket", (socket) => {
    limitRate(socket);
    parseInParts(socket);
  });
  // The frames of a WebSocket have separate limits.
  outgoing.on("upgrade", (_response, socket) => pushWhole(socket));
  outgoing.on("information", () => endIfThrown(outgoing, () => count.addInterim()));
  outgoing.on("response", (response: IncomingMessage) => {
    // A `data` listener would start the stream before the reader is attached, and streams may join pieces.
    const push = response.push.bind(response);
    response.push = (piece: Buffer | null, encoding) => {
      if (piece !== null) endIfThrown(response, () => count.addPiece(piece.length));
      return push(piece, encoding);
    };
  });
}

/** Sends the handshake request of a WebSocket, with a limited response. Used as the option `finishRequest` of `ws`. */
export function endLimited(handshake: ClientRequest): void {
  limitResponse(handshake);
  handshake.end();
}

function endIfThrown(target: { destroy(error: Error): unknown }, check: () => void): void {
  try {
    check();
  } catch (error) {
    target.destroy(error as Error);
  }
}

/** The original method `push` of each socket whose data is parsed in parts. */
const wholePushes = new WeakMap<Duplex, Socket["push"]>();

/** Passes the data that a socket receives to the parser in parts, until the socket is destroyed. */
function parseInParts(socket: Socket): void {
  if (wholePushes.has(socket)) return;
  const push = socket.push.bind(socket);
  wholePushes.set(socket, socket.push);
  socket.push = (bytes: Buffer | null, encoding) => {
    if (bytes === null) return push(null, encoding);
    let hasRoom = true;
    for (let start = 0; start < bytes.length && !socket.destroyed; start += PARSED_BYTES_MAX)
      hasRoom = push(bytes.subarray(start, start + PARSED_BYTES_MAX), encoding);
    return hasRoom;
  };
}

function pushWhole(socket: Duplex): void {
  const push = wholePushes.get(socket);
  if (push !== undefined) socket.push = push;
}

const limitedSockets = new WeakSet<Socket>();

/** Ends a connection that receives more than 8 MiB in a quarter of a second. */
function limitRate(socket: Socket): void {
  if (socket.destroyed || limitedSockets.has(socket)) return;
  limitedSockets.add(socket);
  let bytesBefore = socket.bytesRead;
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    // If the event loop is busy, the timer fires late and more than one period has passed.
    const periods = Math.max(1, (performance.now() - checkedAt) / PERIOD_MS);
    if (socket.bytesRead - bytesBefore > periods * BYTES_PER_PERIOD_MAX)
      socket.destroy(new ResponseLimitError("too much data"));
    bytesBefore = socket.bytesRead;
    checkedAt = performance.now();
  }, PERIOD_MS);
  timer.unref();
  socket.once("close", () => clearInterval(timer));
}

/**
 * Creates a connection pool that limits the interim responses, the pieces of the body and the data rate of responses.
 */
export function createLimitedAgent(options: Omit<Agent.Options, "connect"> = {}) {
  const connect = buildConnector({ timeout: CONNECT_MS_MAX, allowH2: false });
  const agent = new Agent({
    ...options,
    // With HTTP/2, the rate limit of a connection would apply to the sum of several responses.
    allowH2: false,
    connect(target, callback) {
      connect(target, (...result) => {
        const [error, socket] = result;
        if (error === null && socket !== null) limitRate(socket);
        callback(...result);
      });
    },
  });
  return { dispatcher: agent.compose(limitDispatch), close: () => agent.destroy() };
}

const limitDispatch: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const count = new ResponseCount();
  return dispatch(options, {
    onRequestStart: (...parameters) => handler.onRequestStart?.(...parameters),
    onRequestUpgrade: (...parameters) => handler.onRequestUpgrade?.(...parameters),
    onResponseStart(...parameters) {
      const [controller, status] = parameters;
      if (status >= 200) handler.onResponseStart?.(...parameters);
      else abortIfThrown(controller, () => count.addInterim());
    },
    onResponseData(...parameters) {
      const [controller, piece] = parameters;
      abortIfThrown(controller, () => {
        count.addPiece(piece.length);
        handler.onResponseData?.(...parameters);
      });
    },
    onResponseEnd: (...parameters) => handler.onResponseEnd?.(...parameters),
    onResponseError: (...parameters) => handler.onResponseError?.(...parameters),
  });
};

function abortIfThrown(controller: Dispatcher.DispatchController, work: () => void): void {
  try {
    work();
  } catch (error) {
    controller.abort(error as Error);
  }
}
