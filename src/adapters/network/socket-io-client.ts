import { io, type Socket } from "socket.io-client";
import { Encoder } from "socket.io-parser";
import type { Clock } from "../../ports/clock.ts";
import type { SocketIoEmit, SocketIoOut } from "../../ports/socket-io-out.ts";
import { createMessageQueue, describeFailure, type MessageQueue } from "./message-queue.ts";
import { CheckedWebSocket, createDecoderClass } from "./socket-io-packets.ts";

const RECONNECT_MS_MIN = 500;
const RECONNECT_MS_MAX = 30_000;
/** Pause before a reconnect if the peer closed the connection deliberately; the library does not reconnect then. */
const RECONNECT_AFTER_CLOSE_MS = 5_000;

/** Creates an outgoing Socket.IO client with `socket.io-client`, which sends heartbeats and reconnects with jitter. */
export function createSocketIoClient(clock: Clock, queue: MessageQueue = createMessageQueue(clock)): SocketIoOut {
  return {
    connect(url, options, handlers) {
      // The types of the library do not declare the options of `ws`, which creates the connection.
      const socketOptions = {
        maxPayload: options.maxFrameBytes,
        perMessageDeflate: { threshold: 1024 },
      };
      const socket: Socket = io(`${url.replace(/\/$/, "")}${options.namespace}`, {
        ...socketOptions,
        transports: [CheckedWebSocket],
        // The peer could otherwise name any number of transports, each of which is a connection.
        upgrade: false,
        parser: { Encoder, Decoder: createDecoderClass(() => socket.receiveBuffer.length) },
        forceNew: true,
        timeout: options.connectTimeoutMs,
        reconnectionDelay: RECONNECT_MS_MIN,
        reconnectionDelayMax: RECONNECT_MS_MAX,
        randomizationFactor: 0.5,
        extraHeaders: { ...options.headers },
      });
      let failure: string | null = null;
      const onError = (error: unknown) => {
        failure = describeFailure(error);
        socket.disconnect();
      };
      // The library does not report the size of a message.
      const enqueue = (work: () => void) => queue({ bytes: 0, work, onError });
      let isClosed = false;
      let cancelRetry: () => void = () => {};
      const emit: SocketIoEmit = (event, payload) => {
        if (socket.connected) socket.emit(event, payload);
      };
      const onDown = (reason: string) => {
        if (isClosed) return;
        handlers.onDown(failure ?? reason);
        failure = null;
        if (socket.active) return;
        cancelRetry();
        cancelRetry = clock.setTimeout(() => socket.connect(), RECONNECT_AFTER_CLOSE_MS);
      };
      // All events share one queue, so that events of the old connection precede `onUp` of the new connection.
      socket.on("connect", () => {
        // The library reports this even if the connection was closed between the peer's acceptance and this event.
        if (socket.io.engine.readyState === "open") enqueue(() => handlers.onUp(emit));
      });
      socket.on("disconnect", (reason) => enqueue(() => onDown(reason)));
      socket.on("connect_error", (error) => enqueue(() => onDown(error.message)));
      socket.onAny((event: string, payload: unknown) => {
        const receivedAt = clock.now();
        enqueue(() => {
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
