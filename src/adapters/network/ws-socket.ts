import { WebSocket } from "ws";
import type { Clock } from "../../ports/clock.ts";
import type { SocketOut } from "../../ports/socket-out.ts";
import { createMessageQueue, describeFailure, type MessageQueue } from "./message-queue.ts";
import { endLimited } from "./response-limits.ts";

/** Creates outgoing WebSockets with `ws`. The library replies to pings; `onPing` reports them. */
export function createWsSockets(clock: Clock, enqueue: MessageQueue = createMessageQueue(clock)): SocketOut {
  return {
    connect(url, options, handlers) {
      const socket = new WebSocket(url, {
        headers: { ...options.headers },
        maxPayload: options.maxFrameBytes,
        handshakeTimeout: options.connectTimeoutMs,
        perMessageDeflate: false,
        followRedirects: false,
        finishRequest: endLimited,
      });
      const onError = (error: unknown) => {
        reason = describeFailure(error);
        socket.terminate();
      };
      let isClosed = false;
      /** Wraps the processing of a message, so that messages queued before `close` are discarded. */
      const unlessClosed = (work: () => void) => () => {
        if (!isClosed) work();
      };
      const outgoingSocket = {
        send: (text: string) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(text);
        },
        close: () => {
          isClosed = true;
          socket.terminate();
        },
      };
      let reason = "closed by peer";
      socket.on("open", () => handlers.onOpen(outgoingSocket));
      socket.on("message", (data) => {
        // Other types occur only with other values of `binaryType`.
        if (!Buffer.isBuffer(data)) return;
        const receivedAt = clock.now();
        const work = unlessClosed(() => handlers.onMessage(data.toString(), receivedAt));
        enqueue({ bytes: data.length, work, onError });
      });
      socket.on("ping", () => handlers.onPing());
      socket.on("error", (error) => {
        reason = error.message;
      });
      socket.on("close", () => enqueue({ bytes: 0, work: () => handlers.onClose(reason), onError }));
      return outgoingSocket;
    },
  };
}
