/** Sends an event with one JSON payload; dropped silently while the connection is down. */
export type SocketIoEmit = (event: string, payload: unknown) => void;

export interface SocketIoHandlers {
  /** Called when the namespace is joined, after each connect and reconnect. Earlier subscriptions are lost. */
  onUp(emit: SocketIoEmit): void;
  /** Called for each event with its first argument, which is not validated. */
  onEvent(event: string, payload: unknown, receivedAt: number): void;
  /** Called when the connection is lost or fails. It is retried with a growing, jittered delay until `close`. */
  onDown(reason: string): void;
}

export interface SocketIoConnection {
  readonly emit: SocketIoEmit;
  close(): void;
}

/** Outgoing Socket.IO (protocol 5 over Engine.IO 4), over WebSocket only. */
export interface SocketIoOut {
  connect(
    url: string,
    options: {
      /** Namespace with its slash, for example "/markets". */
      readonly namespace: string;
      /** Larger frames close the connection. */
      readonly maxFrameBytes: number;
      readonly connectTimeoutMs: number;
      readonly headers?: Readonly<Record<string, string>>;
    },
    handlers: SocketIoHandlers,
  ): SocketIoConnection;
}
