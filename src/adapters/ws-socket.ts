import { WebSocket } from "ws";
import type { Clock } from "../ports/clock.ts";
import type { SocketOut } from "../ports/socket-out.ts";

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
      const handle = {
        send: (text: string) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(text);
        },
        close: () => socket.terminate(),
      };
      let reason = "closed by peer";
      socket.on("open", () => handlers.onOpen(handle));
      socket.on("message", (data) => handlers.onMessage(data.toString(), clock.now()));
      socket.on("ping", () => handlers.onPing());
      socket.on("error", (error) => {
        reason = error.message;
      });
      socket.on("close", () => handlers.onClose(reason));
      return handle;
    },
  };
}
