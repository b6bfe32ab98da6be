import type { Socket } from "socket.io";
import type { WebSocket } from "ws";
import { canDistort, distort } from "./distort.ts";
import type { VenueFaults } from "./venue-faults.ts";

/** `socket_drop` and `socket_frozen` are drawn at the first message of a connection and every this many messages. */
const CONNECTION_DRAW_EVERY = 20;
const INVALID_JSON = '\u0000{"type":';
/** Prefix of a Socket.IO event packet: type and namespace, followed by the JSON. */
const SOCKET_IO_EVENT = /^2(\/[^,]*,)?(?=\[)/;

/** The outgoing messages of one connection. Faults drop, delay, duplicate or change them. */
export class FaultyChannel<Message> {
  readonly #faults: VenueFaults;
  readonly #options: ChannelOptions<Message>;
  readonly #stopListening: () => void;
  #sent = 0;
  #delayed: Message | null = null;
  #isFrozen = false;
  #isClosed = false;

  constructor(faults: VenueFaults, options: ChannelOptions<Message>) {
    this.#faults = faults;
    this.#options = options;
    this.#stopListening = faults.onChange(() => {
      if (!faults.isOn("socket_frozen")) this.#isFrozen = false;
      if (!faults.isOn("socket_out_of_order")) this.#sendDelayed();
    });
  }

  /** Whether nothing is sent, not even pings. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  send(message: Message): void {
    const faults = this.#faults;
    const { deliver, close, change, isJson } = this.#options;
    if (faults.isInactive) {
      deliver(message);
      return;
    }
    // The venue may continue a burst after the close: do not draw again for the same connection.
    if (this.#isClosed) return;
    if (this.#sent % CONNECTION_DRAW_EVERY === 0) {
      if (faults.draw("socket_drop") !== null) {
        this.#isClosed = true;
        close();
        return;
      }
      if (!this.#isFrozen && faults.draw("socket_frozen") !== null) this.#isFrozen = true;
    }
    this.#sent += 1;
    if (this.#isFrozen || faults.draw("socket_gap") !== null) return;
    let sent = message;
    if (isJson(sent) && faults.draw("socket_garbage") !== null) sent = change(sent, () => INVALID_JSON);
    else if (canDistort(faults)) sent = change(sent, (json) => distort(json, faults));
    if (this.#delayed === null && faults.draw("socket_out_of_order") !== null) {
      this.#delayed = sent;
      return;
    }
    deliver(sent);
    if (faults.draw("socket_duplicate") !== null) deliver(sent);
    this.#sendDelayed();
  }

  /** Call this when the connection is closed. */
  end(): void {
    this.#delayed = null;
    this.#stopListening();
  }

  #sendDelayed(): void {
    const delayed = this.#delayed;
    this.#delayed = null;
    if (delayed !== null) this.#options.deliver(delayed);
  }
}

interface ChannelOptions<Message> {
  deliver(message: Message): void;
  close(): void;
  /** Whether the message contains JSON that `change` can replace. */
  isJson(message: Message): boolean;
  /** Replaces the JSON of the message by the result of `replace`; `INVALID_JSON` is inserted unchanged. */
  change(message: Message, replace: (json: unknown) => unknown): Message;
}

/** The text before the JSON of a message; null if the message contains no JSON. */
function prefixOf(text: string): string | null {
  const [prefix] = SOCKET_IO_EVENT.exec(text) ?? [""];
  const first = text[prefix.length];
  return first === "{" || first === "[" ? prefix : null;
}

function changeText(text: string, replace: (json: unknown) => unknown): string {
  const prefix = prefixOf(text);
  if (prefix === null) return text;
  const body = text.slice(prefix.length);
  const replaced = replace(JSON.parse(body));
  return replaced === INVALID_JSON ? INVALID_JSON : prefix + JSON.stringify(replaced);
}

/** Applies the venue's faults to all later messages and pings of this socket. */
export function installSocketFaults(socket: WebSocket, faults: VenueFaults | undefined): void {
  if (faults === undefined) return;
  const send = socket.send.bind(socket) as (text: string) => void;
  const ping = socket.ping.bind(socket) as (data?: string) => void;
  const channel = new FaultyChannel<string>(faults, {
    deliver: (text) => {
      if (socket.readyState === socket.OPEN) send(text);
    },
    close: () => socket.terminate(),
    isJson: (text) => prefixOf(text) !== null,
    change: changeText,
  });
  socket.send = (data: unknown) => channel.send(String(data));
  socket.ping = (data?: unknown) => {
    if (!channel.isFrozen) ping(data === undefined ? undefined : String(data));
  };
  socket.on("close", () => channel.end());
}

type Transport = Socket["conn"]["transport"];
type Packet = Parameters<Transport["send"]>[0][number];

const isEventPacket = (packet: Packet): packet is Packet & { readonly data: string } =>
  typeof packet.data === "string" && SOCKET_IO_EVENT.test(packet.data);

/** Applies the venue's faults to a Socket.IO connection, whose transport sends batches of packets. */
export function installTransportFaults(transport: Transport, faults: VenueFaults | undefined): void {
  if (faults === undefined) return;
  const send = transport.send.bind(transport);
  let out: Packet[] | null = null;
  const channel = new FaultyChannel<Packet>(faults, {
    deliver: (packet) => {
      if (out === null) send([packet]);
      else out.push(packet);
    },
    close: () => transport.close(),
    isJson: isEventPacket,
    change(packet, replace) {
      if (!isEventPacket(packet)) return packet;
      const data = changeText(packet.data, replace);
      // Returns a new packet, because the original may hold a pre-encoded frame with the unchanged text.
      return { type: packet.type, data: data === INVALID_JSON ? "2/markets,[" : data };
    },
  });
  transport.send = (packets) => {
    if (faults.isInactive) return send(packets);
    out = [];
    for (const packet of packets) {
      if (packet.type === "message") channel.send(packet);
      else if (!channel.isFrozen) out.push(packet);
    }
    const packetsToSend = out;
    out = null;
    if (packetsToSend.length > 0) send(packetsToSend);
  };
  transport.once("close", () => channel.end());
}
