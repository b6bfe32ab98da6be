export interface OutgoingSocket {
  /** Sends text; dropped silently when the socket is not open. */
  send(text: string): void;
  close(): void;
}

export interface SocketHandlers {
  onOpen(socket: OutgoingSocket): void;
  /** Called for each text frame. */
  onMessage(text: string, receivedAt: number): void;
  /** Called for each ping frame, which proves that the peer is alive. */
  onPing(): void;
  /** Called exactly once, even if connecting fails. */
  onClose(reason: string): void;
}

/** Outgoing WebSockets. Frames over `maxFrameBytes` close the socket. */
export interface SocketOut {
  connect(
    url: string,
    options: { headers?: Readonly<Record<string, string>>; maxFrameBytes: number; connectTimeoutMs: number },
    handlers: SocketHandlers,
  ): OutgoingSocket;
}
