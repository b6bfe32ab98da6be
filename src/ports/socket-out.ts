/** What a client does with an open WebSocket. */
export interface OutgoingSocket {
  /** Sends text; dropped silently when the socket is not open. */
  send(text: string): void;
  close(): void;
}

export interface SocketHandlers {
  onOpen(socket: OutgoingSocket): void;
  /** A text frame. */
  onMessage(text: string, receivedAt: number): void;
  /** A ping frame: the peer is alive though it has nothing to say. */
  onPing(): void;
  /** Called exactly once, also when connecting failed. */
  onClose(reason: string): void;
}

/** WebSockets to hosts the operator configured. Frames over `maxFrameBytes` close the socket. */
export interface SocketOut {
  connect(
    url: string,
    options: { headers?: Readonly<Record<string, string>>; maxFrameBytes: number; connectTimeoutMs: number },
    handlers: SocketHandlers,
  ): OutgoingSocket;
}
