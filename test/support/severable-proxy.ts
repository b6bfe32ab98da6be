import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP hop before a server that others share, so that a test can take the server away from itself alone. */
export interface SeverableProxy {
  readonly port: number;
  /** Cuts every connection and refuses new ones. */
  sever(): Promise<void>;
  /** Keeps connections and takes new ones, but lets nothing through any more, as a frozen server would. */
  freeze(): void;
  /** Lets connections through again; those that were frozen are cut. */
  restore(): Promise<void>;
  /** Sockets that are open now, on both sides. */
  readonly connections: number;
  /** Pieces that came from clients while it was frozen and were let through to nobody. */
  readonly swallowed: number;
  /** Connections taken since the start. */
  readonly accepted: number;
  close(): Promise<void>;
}

export async function openSeverableProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<SeverableProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let accepted = 0;
  let swallowed = 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    accepted += 1;
    track(near);
    if (isFrozen) {
      // Read and thrown away, so that the other side's leaving is seen.
      near.resume();
      return;
    }
    const far = connect(target.port, target.host);
    track(far);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    near.on("data", (bytes) => {
      if (isFrozen) swallowed += 1;
      else far.write(bytes);
    });
    far.on("data", (bytes) => void (isFrozen || near.write(bytes)));
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const cut = () => {
    for (const socket of [...sockets]) socket.destroy();
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    const closed = server.listening ? once(server, "close") : null;
    server.close();
    cut();
    await closed;
  };
  return {
    port,
    sever: stop,
    freeze() {
      isFrozen = true;
    },
    async restore() {
      if (isFrozen) cut();
      isFrozen = false;
      if (!server.listening) await listen(port);
    },
    get swallowed() {
      return swallowed;
    },
    get accepted() {
      return accepted;
    },
    get connections() {
      return sockets.size;
    },
    close: stop,
  };
}
