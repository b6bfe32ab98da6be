import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { OutgoingSocket, SocketOut } from "../../ports/socket-out.ts";
import type { DropCounter } from "../../ports/venue.ts";

export interface ReconnectingSocketOptions {
  readonly sockets: SocketOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly url: string;
  /** Fresh for each attempt: signatures expire. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** What to send so that the peer stays and answers, and how often; null where the peer pings us. */
  readonly heartbeat: { readonly text: () => string; readonly everyMs: number } | null;
  /** Nothing heard (not even a ping) for this long: the socket is dead though nobody closed it. */
  readonly silenceMsMax: number;
  /** Asked now and then: true when pings come but what was subscribed to has stopped coming. */
  readonly isFrozen?: () => boolean;
  /** Counts sockets given up (`stream_silent`, `stream_frozen`) and those that ended or failed (`stream_connection_lost`). */
  readonly drop: DropCounter;
  onOpen(send: (text: string) => void): void;
  onMessage(text: string, receivedAt: number): void;
  onDown(reason: string): void;
}

export interface ReconnectingSocket {
  send(text: string): void;
  close(): void;
}

const BACKOFF_MS_MIN = 500;
const BACKOFF_MS_MAX = 30_000;
const FRAME_BYTES_MAX = 16 * 1024 * 1024;

/** A WebSocket that notices silence and comes back by itself, with growing and jittered delay, until closed. */
export function openReconnectingSocket(options: ReconnectingSocketOptions): ReconnectingSocket {
  const { clock, random } = options;
  let socket: OutgoingSocket | null = null;
  let isClosed = false;
  let failures = 0;
  let heardAt = 0;
  let isGivenUp = false;
  let cancelTimer: () => void = () => {};

  /** Sends heartbeats in time and looks exactly when the silence has become too long. */
  const watch = (opened: OutgoingSocket, beatAt: number) => {
    const now = clock.monotonic();
    const silentMs = now - heardAt;
    const isSilent = silentMs > options.silenceMsMax;
    if (isSilent || options.isFrozen?.() === true) {
      isGivenUp = true;
      options.drop(isSilent ? "stream_silent" : "stream_frozen");
      return opened.close();
    }
    const { heartbeat } = options;
    if (heartbeat !== null && now >= beatAt) opened.send(heartbeat.text());
    const nextBeatAt = heartbeat === null ? Number.POSITIVE_INFINITY : now >= beatAt ? now + heartbeat.everyMs : beatAt;
    const waitMs = Math.min(options.silenceMsMax - silentMs + 1, nextBeatAt - now);
    cancelTimer = clock.setTimeout(() => watch(opened, nextBeatAt), waitMs);
  };

  const connect = () => {
    if (isClosed) return;
    heardAt = clock.monotonic();
    isGivenUp = false;
    const attempt = options.sockets.connect(
      options.url,
      { headers: options.headers?.() ?? {}, maxFrameBytes: FRAME_BYTES_MAX, connectTimeoutMs: 10_000 },
      {
        onOpen(opened) {
          if (isClosed) return opened.close();
          socket = opened;
          heardAt = clock.monotonic();
          options.onOpen((text) => opened.send(text));
          // Whoever closed it while it opened has no use for a timer.
          if (socket === opened) watch(opened, heardAt + (options.heartbeat?.everyMs ?? 0));
        },
        onMessage(text, receivedAt) {
          heardAt = clock.monotonic();
          failures = 0;
          options.onMessage(text, receivedAt);
        },
        onPing() {
          heardAt = clock.monotonic();
        },
        onClose(reason) {
          cancelTimer();
          socket = null;
          if (isClosed) return;
          if (!isGivenUp) options.drop("stream_connection_lost");
          options.onDown(reason);
          const delayMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failures) * (0.5 + random.uniform() / 2);
          failures = Math.min(failures + 1, 10);
          cancelTimer = clock.setTimeout(connect, delayMs);
        },
      },
    );
    void attempt;
  };
  connect();

  return {
    send: (text) => socket?.send(text),
    close() {
      isClosed = true;
      cancelTimer();
      socket?.close();
    },
  };
}
