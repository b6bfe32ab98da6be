import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { OutgoingSocket, SocketOut } from "../../ports/socket-out.ts";
import type { DropCounter } from "../../ports/venue.ts";

export interface ReconnectingSocketOptions {
  readonly sockets: SocketOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly url: string;
  /** Called for each connection attempt, because signed headers expire. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Text sent every `everyMs`; null if the peer sends pings. */
  readonly heartbeat: { readonly text: () => string; readonly everyMs: number } | null;
  /** Maximum time without a message or ping, after which the socket is closed. */
  readonly silenceMsMax: number;
  /**
   * Returns true if the socket still receives pings but no subscribed data. Called regularly; if it returns true, the
   * socket is closed.
   */
  readonly isStalled?: () => boolean;
  /**
   * Counts each socket that this client closes (`stream_silent`, `stream_frozen`) or that the peer closes or refuses
   * (`stream_connection_lost`).
   */
  readonly countDrop: DropCounter;
  onOpen(send: (text: string) => void): void;
  onMessage(text: string, receivedAt: number): void;
  onDown(reason: string): void;
}

export type ReconnectingSocket = ReturnType<typeof openReconnectingSocket>;

const BACKOFF_MS_MIN = 500;
const BACKOFF_MS_MAX = 30_000;
const FRAME_BYTES_MAX = 16 * 1024 * 1024;

/** Opens a WebSocket that detects silence and reconnects with exponential backoff and jitter until it is closed. */
export function openReconnectingSocket(options: ReconnectingSocketOptions) {
  const { clock, random } = options;
  let socket: OutgoingSocket | null = null;
  let isClosed = false;
  let failures = 0;
  let lastReceivedAt = 0;
  let isUnresponsive = false;
  let cancelTimer: () => void = () => {};

  /** Sends a due heartbeat, closes a silent or stalled socket, and schedules the next run. */
  const monitor = (openSocket: OutgoingSocket, heartbeatAt: number) => {
    const now = clock.monotonic();
    const silentMs = now - lastReceivedAt;
    const isSilent = silentMs > options.silenceMsMax;
    if (isSilent || options.isStalled?.() === true) {
      isUnresponsive = true;
      options.countDrop(isSilent ? "stream_silent" : "stream_frozen");
      return openSocket.close();
    }
    const { heartbeat } = options;
    if (heartbeat !== null && now >= heartbeatAt) openSocket.send(heartbeat.text());
    const nextHeartbeatAt =
      heartbeat === null ? Number.POSITIVE_INFINITY : now >= heartbeatAt ? now + heartbeat.everyMs : heartbeatAt;
    const waitMs = Math.min(options.silenceMsMax - silentMs + 1, nextHeartbeatAt - now);
    cancelTimer = clock.setTimeout(() => monitor(openSocket, nextHeartbeatAt), waitMs);
  };

  const connect = () => {
    if (isClosed) return;
    lastReceivedAt = clock.monotonic();
    isUnresponsive = false;
    options.sockets.connect(
      options.url,
      { headers: options.headers?.() ?? {}, maxFrameBytes: FRAME_BYTES_MAX, connectTimeoutMs: 10_000 },
      {
        onOpen(openSocket) {
          if (isClosed) return openSocket.close();
          socket = openSocket;
          lastReceivedAt = clock.monotonic();
          options.onOpen((text) => openSocket.send(text));
          // `onOpen` may have closed the socket.
          if (socket === openSocket) monitor(openSocket, lastReceivedAt + (options.heartbeat?.everyMs ?? 0));
        },
        onMessage(text, receivedAt) {
          lastReceivedAt = clock.monotonic();
          failures = 0;
          options.onMessage(text, receivedAt);
        },
        onPing() {
          lastReceivedAt = clock.monotonic();
        },
        onClose(reason) {
          cancelTimer();
          socket = null;
          if (isClosed) return;
          if (!isUnresponsive) options.countDrop("stream_connection_lost");
          options.onDown(reason);
          const delayMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failures) * (0.5 + random.uniform() / 2);
          failures = Math.min(failures + 1, 10);
          cancelTimer = clock.setTimeout(connect, delayMs);
        },
      },
    );
  };
  connect();

  return {
    send: (text: string): void => socket?.send(text),
    close(): void {
      isClosed = true;
      cancelTimer();
      socket?.close();
    },
  };
}
