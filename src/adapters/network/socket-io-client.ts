import { io } from "socket.io-client";
import type { Clock } from "../../ports/clock.ts";
import type { SocketIoEmit, SocketIoOut } from "../../ports/socket-io-out.ts";
import { createMessageQueue } from "./message-queue.ts";

const RECONNECT_MS_MIN = 500;
const RECONNECT_MS_MAX = 30_000;
/** After a peer closed the connection on purpose the library does not try again by itself. */
const RECONNECT_AFTER_REFUSAL_MS = 5_000;

/** Socket.IO out through `socket.io-client`; heartbeats and reconnecting with jitter are the library's. */
export function createSocketIoClient(clock: Clock): SocketIoOut {
  return {
    connect(url, options, handlers) {
      const limits = { maxPayload: options.maxFrameBytes, perMessageDeflate: { threshold: 1024 } };
      const socket = io(`${url.replace(/\/$/, "")}${options.namespace}`, {
        ...limits,
        transports: ["websocket"],
        forceNew: true,
        timeout: options.connectTimeoutMs,
        reconnectionDelay: RECONNECT_MS_MIN,
        reconnectionDelayMax: RECONNECT_MS_MAX,
        randomizationFactor: 0.5,
        ...(options.headers === undefined ? {} : { extraHeaders: { ...options.headers } }),
      });
      const take = createMessageQueue(clock);
      let isClosed = false;
      let cancelRetry: () => void = () => {};
      const emit: SocketIoEmit = (event, payload) => {
        if (socket.connected) socket.emit(event, payload);
      };
      const down = (reason: string) => {
        if (isClosed) return;
        handlers.onDown(reason);
        if (socket.active) return;
        cancelRetry();
        cancelRetry = clock.setTimeout(() => socket.connect(), RECONNECT_AFTER_REFUSAL_MS);
      };
      // All in one order: an event of before must not be taken for one of after.
      socket.on("connect", () => take(() => handlers.onUp(emit)));
      socket.on("disconnect", (reason) => take(() => down(reason)));
      socket.on("connect_error", (error) => take(() => down(error.message)));
      socket.onAny((event: string, payload: unknown) => {
        const receivedAt = clock.now();
        take(() => {
          if (!isClosed) handlers.onEvent(event, payload, receivedAt);
        });
      });
      return {
        emit,
        close() {
          isClosed = true;
          cancelRetry();
          socket.disconnect();
        },
      };
    },
  };
}
