import type { RequestListener, Server } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import { normaliseIpAddress, type RateLimitedPrefix, rateLimitedPrefixes } from "../lib/ip-prefix.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { readSendQueues } from "./send-queues.ts";

/** Defaults of PARALLAX_CONNECTIONS_MAX and PARALLAX_CONNECTIONS_PER_ADDRESS_MAX. */
const CONNECTIONS_MAX = 4_096;
const CONNECTIONS_PER_ADDRESS_MAX = 256;
const REQUESTS_PER_CONNECTION_MAX = 10_000;
/** Maximum number of requests on one connection that wait for earlier responses. */
const WAITING_REQUESTS_MAX = 16;
/**
 * Maximum number of unsent bytes per connection. Large responses are written in pieces (`response/pieces.ts`), so only
 * a stream that ignores backpressure reaches it.
 */
const UNSENT_BYTES_MAX = 8 * 1024 * 1024;
/**
 * Time without progress after which a connection with unsent bytes is closed. The kernel accepts the bytes of a slow
 * client in steps of up to 1.8 MB, so on Linux each byte that the client acknowledges is progress, too. Elsewhere a
 * client must read 40 kB/s.
 */
const STALLED_WRITE_MS_MAX = 60_000;
/**
 * If the kernel accepts no bytes for this time, progress is also measured by the bytes that the client acknowledges.
 */
const SUSPECTED_MS = 10_000;
const SWEEP_INTERVAL_MS = 2_000;
/** Maximum number of refused connections kept open, for up to two sweeps, until the client has read the response. */
const REFUSED_CONNECTIONS_MAX = 256;
const LOG_INTERVAL_MS = 60_000;

export interface ConnectionMaxima {
  /** Maximum number of open connections of the process. */
  readonly total: number;
  /**
   * Maximum number per IPv4 address or IPv6 /64; four times as many per IPv6 /48. Trusted proxies have no such limit.
   */
  readonly perAddress: number;
  /** Requests after which a connection is closed. */
  readonly requestsPerConnection: number;
}

/** `total` and `address` refuse a new connection; the other reasons close an open one. */
type Reason = "total" | "address" | "waiting_requests" | "unsent_bytes" | "stalled_write";
export type RefusalReason = "total" | "address";

const LOG_MESSAGES: Readonly<Record<Reason, string>> = {
  total: "connections refused: too many are open",
  address: "connections refused: too many are open from one address",
  waiting_requests: "connections closed: too many pipelined requests",
  unsent_bytes: "connections closed: too many unsent bytes",
  stalled_write: "connections closed: the client reads nothing",
};

export interface ConnectionFigures {
  readonly open: number;
  /** Number of refused and closed connections by reason. */
  readonly rejected: Readonly<Record<Reason, number>>;
}

interface Connection {
  readonly isRefused: boolean;
  requests: number;
  waitingRequests: number;
  /** Number of bytes that the kernel had accepted at the last sweep; null if no bytes were waiting. */
  sentBytes: number | null;
  /** Number of accepted bytes that the client had not acknowledged at the last reading; null if unknown. */
  unacknowledgedBytes: number | null;
  /** Monotonic time of the last reading that found newly acknowledged bytes; -Infinity if there was none. */
  acknowledgedAt: number;
  /** Monotonic time of the last sweep that found progress. */
  progressAt: number;
  /** Whether the server had sent everything and closed its side at the last sweep. */
  hasEnded: boolean;
}

/** Limits the connections of a server, and the requests and bytes that wait on each of them. */
export class ConnectionLimits {
  readonly #maxima: ConnectionMaxima;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #isTrustedProxy: (address: string) => boolean;
  readonly #respondToRefusal: (socket: Socket, reason: RefusalReason) => void;
  readonly #connections = new Map<Socket, Connection>();
  readonly #countsByBlock = new Map<string, number>();
  #refusedConnections = 0;
  #isSweepScheduled = false;
  #reading: Promise<void> | null = null;
  readonly #rejected: Record<Reason, number> = {
    total: 0,
    address: 0,
    waiting_requests: 0,
    unsent_bytes: 0,
    stalled_write: 0,
  };
  readonly #lastLogs = new Map<Reason, { readonly at: number; readonly count: number }>();

  /** @param options.respondToRefusal  sends a response and ends the server's side of the connection */
  constructor(options: {
    readonly clock: Clock;
    readonly log: Log;
    readonly maxima?: Partial<ConnectionMaxima>;
    readonly trustProxy: readonly string[] | null;
    readonly respondToRefusal: (socket: Socket, reason: RefusalReason) => void;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#maxima = {
      total: CONNECTIONS_MAX,
      perAddress: CONNECTIONS_PER_ADDRESS_MAX,
      requestsPerConnection: REQUESTS_PER_CONNECTION_MAX,
      ...options.maxima,
    };
    this.#isTrustedProxy = createAddressMatcher(options.trustProxy ?? []);
    this.#respondToRefusal = options.respondToRefusal;
  }

  get figures(): ConnectionFigures {
    return { open: this.#connections.size - this.#refusedConnections, rejected: { ...this.#rejected } };
  }

  /** Applies the limits to the new connections of a server. */
  attach(server: Server): void {
    server.on("connection", (socket: Socket) => this.#admit(socket));
  }

  /**
   * Wraps a server's request listener. It handles one request per connection at a time: Node starts all pipelined
   * requests immediately and keeps their responses in memory until the client has read the responses before them.
   */
  handleInTurn(handle: RequestListener): RequestListener {
    const requestsMax = this.#maxima.requestsPerConnection;
    return (request, response) => {
      const connection = this.#connections.get(request.socket);
      if (connection === undefined || connection.isRefused || request.socket.destroyed) return;
      connection.requests += 1;
      // Node then sends `Connection: close` and closes the connection after this response.
      if (connection.requests === requestsMax) response.shouldKeepAlive = false;
      // Node assigns the socket to a response when all responses before it are sent.
      if (response.socket !== null) {
        handle(request, response);
        return;
      }
      if (connection.waitingRequests >= WAITING_REQUESTS_MAX) {
        stopParsing(request.socket);
        this.#close(request.socket, "waiting_requests");
        return;
      }
      connection.waitingRequests += 1;
      response.once("socket", () => {
        connection.waitingRequests -= 1;
        handle(request, response);
      });
    };
  }

  /** Resolves when no reading of acknowledged bytes is running. */
  async idle(): Promise<void> {
    await this.#reading;
  }

  /**
   * Returns the monotonic time of the last sweep that found newly acknowledged bytes on a connection without other
   * progress; -Infinity if there was none.
   */
  acknowledgedAt(socket: Socket): number {
    return this.#connections.get(socket)?.acknowledgedAt ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * Closes refused connections, and connections that never sent a byte when the server stops. Node does not treat the
   * latter as idle, so a spare connection of a browser or load balancer would delay the stop until its deadline.
   */
  closeUnused(): void {
    for (const [socket, { isRefused, requests }] of this.#connections)
      if (isRefused || (requests === 0 && socket.bytesRead === 0)) socket.destroy();
  }

  #admit(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const blocks = this.#isTrustedProxy(address) ? [] : rateLimitedPrefixes(address);
    const reason = this.#findRefusalReason(blocks);
    if (reason === null) {
      this.#track(socket, { blocks, isRefused: false });
      return;
    }
    this.#record(reason);
    if (this.#refusedConnections >= REFUSED_CONNECTIONS_MAX) {
      socket.destroy();
      return;
    }
    this.#track(socket, { blocks: [], isRefused: true });
    this.#respondToRefusal(socket, reason);
  }

  #findRefusalReason(blocks: readonly RateLimitedPrefix[]): RefusalReason | null {
    if (this.#connections.size - this.#refusedConnections >= this.#maxima.total) return "total";
    const isFull = ({ block, factor }: RateLimitedPrefix) =>
      (this.#countsByBlock.get(block) ?? 0) >= factor * this.#maxima.perAddress;
    return blocks.some(isFull) ? "address" : null;
  }

  /** @param options.blocks  the IP address blocks whose limits count the connection */
  #track(
    socket: Socket,
    options: { readonly blocks: readonly RateLimitedPrefix[]; readonly isRefused: boolean },
  ): void {
    const { blocks, isRefused } = options;
    const progressAt = this.#clock.monotonic();
    this.#connections.set(socket, {
      isRefused,
      requests: 0,
      waitingRequests: 0,
      sentBytes: null,
      unacknowledgedBytes: null,
      acknowledgedAt: Number.NEGATIVE_INFINITY,
      progressAt,
      hasEnded: false,
    });
    if (isRefused) this.#refusedConnections += 1;
    this.#count(blocks, 1);
    socket.once("close", () => {
      this.#connections.delete(socket);
      if (isRefused) this.#refusedConnections -= 1;
      this.#count(blocks, -1);
    });
    this.#scheduleSweep();
  }

  #count(blocks: readonly RateLimitedPrefix[], change: 1 | -1): void {
    for (const { block } of blocks) {
      const count = (this.#countsByBlock.get(block) ?? 0) + change;
      if (count > 0) this.#countsByBlock.set(block, count);
      else this.#countsByBlock.delete(block);
    }
  }

  #scheduleSweep(): void {
    if (this.#isSweepScheduled) return;
    this.#isSweepScheduled = true;
    this.#clock.setTimeout(() => {
      this.#isSweepScheduled = false;
      for (const [socket, connection] of this.#connections) this.#check(socket, connection);
      this.#reading ??= this.#checkSuspected().finally(() => {
        this.#reading = null;
      });
      if (this.#connections.size > 0) this.#scheduleSweep();
    }, SWEEP_INTERVAL_MS);
  }

  #check(socket: Socket, connection: Connection): void {
    if (socket.writableFinished) {
      // The second sweep closes it, so that the client has time to read the response and to close its side.
      if (connection.hasEnded) socket.destroy();
      connection.hasEnded = true;
      return;
    }
    if (socket.writableLength === 0) {
      connection.sentBytes = null;
      return;
    }
    if (socket.writableLength > UNSENT_BYTES_MAX) {
      this.#close(socket, "unsent_bytes");
      return;
    }
    const now = this.#clock.monotonic();
    const sentBytes = countSentBytes(socket);
    if (connection.sentBytes !== sentBytes) {
      connection.sentBytes = sentBytes;
      connection.unacknowledgedBytes = null;
      connection.progressAt = now;
    }
  }

  /** Reads the acknowledged bytes of all suspected connections at once, and closes stalled connections. */
  async #checkSuspected(): Promise<void> {
    const startedAt = this.#clock.monotonic();
    const suspected = new Map<Socket, number>();
    for (const [socket, { sentBytes, progressAt }] of this.#connections)
      if (sentBytes !== null && startedAt - progressAt >= SUSPECTED_MS) suspected.set(socket, sentBytes);
    if (suspected.size === 0) return;
    const queues = await readSendQueues(suspected.keys());
    const now = this.#clock.monotonic();
    for (const [socket, sentBytes] of suspected) {
      const connection = this.#connections.get(socket);
      if (connection === undefined || connection.sentBytes !== sentBytes) continue;
      const before = connection.unacknowledgedBytes;
      const unacknowledged = queues.get(socket) ?? null;
      connection.unacknowledgedBytes = unacknowledged;
      const isFirstReading = unacknowledged !== null && before === null;
      if (unacknowledged !== null && before !== null && unacknowledged < before) {
        connection.progressAt = now;
        connection.acknowledgedAt = now;
      } else if (!isFirstReading && now - connection.progressAt >= STALLED_WRITE_MS_MAX)
        this.#close(socket, "stalled_write");
    }
  }

  #close(socket: Socket, reason: Reason): void {
    this.#record(reason);
    socket.destroy();
  }

  /** Counts a rejection, and logs at most one line per reason and minute. */
  #record(reason: Reason): void {
    this.#rejected[reason] += 1;
    const now = this.#clock.monotonic();
    const lastLog = this.#lastLogs.get(reason);
    if (lastLog !== undefined && now - lastLog.at < LOG_INTERVAL_MS) return;
    const { open, rejected } = this.figures;
    this.#log.warn({ count: rejected[reason] - (lastLog?.count ?? 0), open }, LOG_MESSAGES[reason]);
    this.#lastLogs.set(reason, { at: now, count: rejected[reason] });
  }
}

/** Members of Node's sockets that its types omit. */
interface SocketInternals {
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  readonly parser?: { onIncoming: () => number } | null;
}

/**
 * Returns the number of bytes that the kernel has accepted. Node has no public counter: `bytesWritten` includes waiting
 * bytes, and `writableLength` changes only when a whole write is complete.
 */
function countSentBytes(socket: Socket): number {
  const handle = (socket as SocketInternals)._handle;
  return handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}

/**
 * Stops Node's HTTP parser at the next request. Otherwise it creates the objects of every request in the received 64
 * KiB, even on a destroyed socket, which takes 10 ms for 590 requests.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as SocketInternals;
  if (parser != null) parser.onIncoming = () => -1;
}

/** @param ranges  IP addresses and CIDR ranges */
function createAddressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");
  for (const range of ranges) {
    const [address = "", prefixLength] = range.split("/");
    if (prefixLength === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefixLength), familyOf(address));
  }
  return (text) => {
    const address = normaliseIpAddress(text);
    return address !== null && list.check(address, familyOf(address));
  };
}
