/** Sends an event with one JSON payload; dropped silently while the connection is down. */
export type SocketIoEmit = (event: string, payload: unknown) => void;

export interface SocketIoHandlers {
  /** The namespace is joined, for the first time or again; the peer remembers nothing of before. */
  onUp(emit: SocketIoEmit): void;
  /** An event with its first argument; hostile until checked against a schema. */
  onEvent(event: string, payload: unknown, receivedAt: number): void;
  /** The connection was lost or could not be made; it is tried again with growing, jittered delay until closed. */
  onDown(reason: string): void;
}

export interface SocketIoConnection {
  readonly emit: SocketIoEmit;
  close(): void;
}

/** Socket.IO (protocol 5 over Engine.IO 4) to hosts the operator configured, over WebSocket only. */
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
