import { Resolver } from "node:dns/promises";
import http from "node:http";
import net, { isIP } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { normaliseIpAddress } from "../../lib/ip-prefix.ts";
import { isLoopbackAddress, isLoopbackHost } from "../../lib/loopback.ts";
import { isPublicAddress } from "./guarded-address.ts";

const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"];
/** Maximum number of addresses of a host that a connection attempt tries. */
const DIALLED_ADDRESSES_MAX = 4;
/** Maximum number of idle connections that an agent keeps open, to all hosts. */
const IDLE_SOCKETS_MAX = 256;
/** Maximum idle time of a connection. Servers on Node close an idle connection after 5 s. */
const IDLE_MS_MAX = 4_000;
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/** Returns all IPv4 and IPv6 addresses of a name. Rejects if there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Opens a connection to the first of the addresses that responds. Resolves no names. */
export type Dial = (addresses: readonly string[], port: number) => net.Socket;

export interface GuardPorts {
  readonly resolveHost: ResolveHost;
  readonly dial: Dial;
  /** Allows requests to `localhost` and loopback addresses. Other names for loopback are always rejected. */
  readonly allowsLoopback: boolean;
  /** Certificates to trust instead of the built-in ones, as PEM. */
  readonly ca?: string;
  /** Called with the addresses before a request is sent to one of them. May throw to reject the request. */
  readonly admit?: (addresses: readonly string[]) => void;
}

/** Thrown for a host that has an address to which no connection is allowed. */
export class ForbiddenAddressError extends Error {
  override name = "ForbiddenAddressError";
}

/**
 * Creates a resolver that queries the DNS servers of the system. It ignores /etc/hosts and search domains. It does not
 * use `getaddrinfo`, which would block threads that also read files.
 *
 * @param options  servers and timeout per query; injected by tests
 */
export function createDnsResolver({
  servers,
  timeoutMs = DNS_TIMEOUT_MS,
}: {
  readonly servers?: readonly string[];
  readonly timeoutMs?: number;
} = {}): ResolveHost {
  const resolver = new Resolver({ timeout: timeoutMs, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length === 0) throw new Error("the host has no address");
    return addresses;
  };
}

/** Connects over TCP. With several addresses, the next one is tried 250 ms later or as soon as one fails. */
export const dialTcp: Dial = (addresses, port) =>
  net.connect({
    host: "receiver.invalid",
    port,
    noDelay: true,
    autoSelectFamily: true,
    // Returns only the checked addresses, so that no other address is connected to.
    lookup: (_hostname, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
  });

export interface GuardedRequestOptions {
  /** Aborts the DNS lookup, the connection and the TLS handshake. The agent does not get the option `signal`. */
  readonly connectSignal: AbortSignal;
  /** Requests with the same value share connections. */
  readonly sharedBy: string | undefined;
}

type ConnectOptions = http.ClientRequestArgs & GuardedRequestOptions;

/**
 * An agent that connects only to public addresses. Each connection resolves the host again and is rejected if any of
 * the host's addresses is forbidden. The address of the peer is checked again before the first byte is written.
 *
 * The number of connections in use is not limited. Requests must have the options of `GuardedRequestOptions`.
 */
export class GuardedAgent extends http.Agent {
  readonly #isSecure: boolean;
  readonly #ports: GuardPorts;
  readonly #peers = new WeakMap<Duplex, string>();

  constructor(protocol: "http:" | "https:", ports: GuardPorts) {
    super({ keepAlive: true, timeout: IDLE_MS_MAX });
    this.#isSecure = protocol === "https:";
    this.#ports = ports;
    // Otherwise `https.request` rejects the agent.
    Object.assign(this, { protocol, defaultPort: this.#isSecure ? 443 : 80 });
  }

  override createConnection(
    options: http.ClientRequestArgs,
    onCreate: (error: Error | null, socket: Duplex) => void = () => {},
  ): undefined {
    const { host, port, connectSignal } = options as ConnectOptions;
    const target = { host: String(host), port: Number(port), isSecure: this.#isSecure };
    connectGuarded(target, connectSignal, this.#ports).then(
      ({ socket, peer }) => {
        this.#peers.set(socket, peer);
        onCreate(null, socket);
      },
      // Node ignores the socket if there is an error.
      (error) => (onCreate as (error: Error) => void)(error),
    );
  }

  override getName(options?: http.ClientRequestArgs): string {
    const { host, port, sharedBy = null } = options as ConnectOptions;
    return JSON.stringify([host, port, sharedBy]);
  }

  override reuseSocket(socket: Duplex, request: http.ClientRequest): void {
    super.reuseSocket(socket, request);
    try {
      this.#ports.admit?.([this.#peers.get(socket) ?? ""]);
    } catch (error) {
      // Nothing is written, and the connection stays open for later requests.
      request.destroy(error as Error);
    }
  }

  /** Returns whether the connection stays open. */
  override keepSocketAlive(socket: Duplex): boolean {
    const idle = Object.values(this.freeSockets).reduce((count, sockets) => count + (sockets?.length ?? 0), 0);
    if (idle >= IDLE_SOCKETS_MAX) return false;
    super.keepSocketAlive(socket);
    return true;
  }
}

/** Scheme, host and port of a connection. The host has no brackets. */
interface Target {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/**
 * Returns the connection and the address of its peer.
 *
 * @throws ForbiddenAddressError, the error of `admit`, or another error if the connection or its TLS handshake fails
 */
async function connectGuarded(
  target: Target,
  signal: AbortSignal,
  ports: GuardPorts,
): Promise<{ readonly socket: net.Socket; readonly peer: string }> {
  const addresses = (await abortable(findAddresses(target.host, ports), signal)).slice(0, DIALLED_ADDRESSES_MAX);
  ports.admit?.(addresses);
  const socket = ports.dial(addresses, target.port);
  await untilEvent(socket, "connect", signal);
  const peer = normaliseIpAddress(socket.remoteAddress ?? "") ?? "";
  if (!addresses.includes(peer)) {
    socket.destroy();
    throw new ForbiddenAddressError("connected to an address that was not checked");
  }
  if (!target.isSecure) return { socket, peer };
  const secure = tls.connect({
    socket,
    // Only names are sent as SNI. For an address, the certificate must contain the address.
    ...(isIP(target.host) === 0 ? { servername: target.host } : { host: target.host }),
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
    ...(ports.ca === undefined ? {} : { ca: ports.ca }),
  });
  await untilEvent(secure, "secureConnect", signal);
  return { socket: secure, peer };
}

/** Returns the addresses of a host in normalised form. @throws ForbiddenAddressError if any of them is forbidden */
async function findAddresses(host: string, ports: GuardPorts): Promise<readonly string[]> {
  if (ports.allowsLoopback && isLoopbackHost(host))
    return (isLoopbackAddress(host) ? [host] : LOOPBACK_ADDRESSES).map(
      (address) => normaliseIpAddress(address) ?? address,
    );
  const answers = isIP(host) === 0 ? await ports.resolveHost(host) : [host];
  if (answers.length === 0) throw new Error("the host has no address");
  if (!answers.every(isPublicAddress)) throw new ForbiddenAddressError("the host has a forbidden address");
  return answers.map((address) => normaliseIpAddress(address) ?? address);
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Resolves when a socket emits an event. If the socket fails or the signal aborts, destroys the socket and rejects. */
async function untilEvent(socket: net.Socket, event: string, signal: AbortSignal): Promise<void> {
  try {
    const happened = new Promise<void>((resolve, reject) => {
      socket.once(event, resolve);
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("the connection closed")));
    });
    await abortable(happened, signal);
  } catch (error) {
    socket.on("error", () => {});
    socket.destroy();
    throw error;
  }
}
