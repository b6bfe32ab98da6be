import type { OutgoingSocket, SocketHandlers, SocketOut } from "../../../src/ports/socket-out.ts";

/** One connection attempt. The test calls its methods in the role of the server. */
export class FakeConnection {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sent: string[] = [];
  isOpen = false;
  isClosed = false;
  readonly #handlers: SocketHandlers;
  readonly #socket: OutgoingSocket;

  constructor(url: string, headers: Readonly<Record<string, string>>, handlers: SocketHandlers) {
    this.url = url;
    this.headers = headers;
    this.#handlers = handlers;
    this.#socket = {
      send: (text) => {
        if (this.isOpen && !this.isClosed) this.sent.push(text);
      },
      close: () => this.drop("closed by us"),
    };
  }

  get socket(): OutgoingSocket {
    return this.#socket;
  }

  accept(): void {
    this.isOpen = true;
    this.#handlers.onOpen(this.#socket);
  }

  receive(text: string, receivedAt = 0): void {
    this.#handlers.onMessage(text, receivedAt);
  }

  ping(): void {
    this.#handlers.onPing();
  }

  drop(reason = "closed by peer"): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#handlers.onClose(reason);
  }
}

/** Sockets without a network. Records every connection attempt. */
export class FakeSockets implements SocketOut {
  readonly connections: FakeConnection[] = [];

  connect(
    url: string,
    options: { headers?: Readonly<Record<string, string>>; maxFrameBytes: number; connectTimeoutMs: number },
    handlers: SocketHandlers,
  ): OutgoingSocket {
    const connection = new FakeConnection(url, options.headers ?? {}, handlers);
    this.connections.push(connection);
    return connection.socket;
  }

  /** The latest connection attempt. */
  get last(): FakeConnection {
    const connection = this.connections.at(-1);
    if (connection === undefined) throw new Error("there was no connection attempt");
    return connection;
  }
}
