import { WebSocket } from "ws";
import type { Clock } from "../../ports/clock.ts";
import type { SocketOut } from "../../ports/socket-out.ts";
import { createMessageQueue } from "./message-queue.ts";

/** WebSockets out through `ws`; pings are answered by the library and reported. */
export function createWsSockets(clock: Clock): SocketOut {
  return {
    connect(url, options, handlers) {
      const socket = new WebSocket(url, {
        headers: { ...options.headers },
        maxPayload: options.maxFrameBytes,
        handshakeTimeout: options.connectTimeoutMs,
        perMessageDeflate: false,
        followRedirects: false,
      });
      const take = createMessageQueue(clock);
      let isClosed = false;
      /** What came before we closed is nobody's concern any more. */
      const unlessClosed = (work: () => void) => () => {
        if (!isClosed) work();
      };
      const handle = {
        send: (text: string) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(text);
        },
        close: () => {
          isClosed = true;
          socket.terminate();
        },
      };
      let reason = "closed by peer";
      socket.on("open", () => handlers.onOpen(handle));
      socket.on("message", (data) => {
        const receivedAt = clock.now();
        take(unlessClosed(() => handlers.onMessage(data.toString(), receivedAt)));
      });
      socket.on("ping", () => handlers.onPing());
      socket.on("error", (error) => {
        reason = error.message;
      });
      socket.on("close", () => take(() => handlers.onClose(reason)));
      return handle;
    },
  };
}
