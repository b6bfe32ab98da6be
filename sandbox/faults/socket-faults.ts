import type { Socket } from "socket.io";
import type { WebSocket } from "ws";
import { canDistort, distort } from "./distort.ts";
import type { VenueFaults } from "./venue-faults.ts";

/** Number of messages per random draw of `socket_drop` and `socket_frozen`. The first message is one. */
const MESSAGES_PER_CONNECTION_DRAW = 20;
const INVALID_JSON = '\u0000{"type":';
/** Matches the prefix of a Socket.IO event packet: type and namespace, before the JSON. */
const SOCKET_IO_EVENT_PREFIX_PATTERN = /^2(\/[^,]*,)?(?=\[)/;

/** Applies faults to the outgoing messages of one connection: drops, delays, duplicates or changes them. */
export class FaultyChannel<Message> {
  readonly #faults: VenueFaults;
  readonly #options: ChannelOptions<Message>;
  readonly #stopListening: () => void;
  #sentCount = 0;
  #delayedMessage: Message | null = null;
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

  /** If true, the connection sends neither messages nor pings. */
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
    // The venue may send messages after the close. No faults are drawn for a closed connection.
    if (this.#isClosed) return;
    if (this.#sentCount % MESSAGES_PER_CONNECTION_DRAW === 0) {
      if (faults.draw("socket_drop") !== null) {
        this.#isClosed = true;
        close();
        return;
      }
      if (!this.#isFrozen && faults.draw("socket_frozen") !== null) this.#isFrozen = true;
    }
    this.#sentCount += 1;
    if (this.#isFrozen || faults.draw("socket_gap") !== null) return;
    let sent = message;
    if (isJson(sent) && faults.draw("socket_garbage") !== null) sent = change(sent, () => INVALID_JSON);
    else if (canDistort(faults)) sent = change(sent, (json) => distort(json, faults));
    if (this.#delayedMessage === null && faults.draw("socket_out_of_order") !== null) {
      this.#delayedMessage = sent;
      return;
    }
    deliver(sent);
    if (faults.draw("socket_duplicate") !== null) deliver(sent);
    this.#sendDelayed();
  }

  /** Must be called when the connection is closed. */
  end(): void {
    this.#delayedMessage = null;
    this.#stopListening();
  }

  #sendDelayed(): void {
    const delayed = this.#delayedMessage;
    this.#delayedMessage = null;
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

/** Returns the text before the JSON of a message, or null if the message contains no JSON. */
function parsePrefix(text: string): string | null {
  const [prefix] = SOCKET_IO_EVENT_PREFIX_PATTERN.exec(text) ?? [""];
  const first = text[prefix.length];
  return first === "{" || first === "[" ? prefix : null;
}

function replaceJsonInText(text: string, replace: (json: unknown) => unknown): string {
  const prefix = parsePrefix(text);
  if (prefix === null) return text;
  const body = text.slice(prefix.length);
  const replaced = replace(JSON.parse(body));
  return replaced === INVALID_JSON ? INVALID_JSON : prefix + JSON.stringify(replaced);
}

/** Applies the venue's faults to all messages and pings sent on this socket. */
export function installSocketFaults(socket: WebSocket, faults: VenueFaults | undefined): void {
  if (faults === undefined) return;
  const send = socket.send.bind(socket) as (text: string) => void;
  const ping = socket.ping.bind(socket) as (data?: string) => void;
  const channel = new FaultyChannel<string>(faults, {
    deliver: (text) => {
      if (socket.readyState === socket.OPEN) send(text);
    },
    close: () => socket.terminate(),
    isJson: (text) => parsePrefix(text) !== null,
    change: replaceJsonInText,
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
  typeof packet.data === "string" && SOCKET_IO_EVENT_PREFIX_PATTERN.test(packet.data);

/** Applies the venue's faults to a Socket.IO connection, whose transport sends batches of packets. */
export function installTransportFaults(transport: Transport, faults: VenueFaults | undefined): void {
  if (faults === undefined) return;
  const send = transport.send.bind(transport);
  let batch: Packet[] | null = null;
  const channel = new FaultyChannel<Packet>(faults, {
    deliver: (packet) => {
      if (batch === null) send([packet]);
      else batch.push(packet);
    },
    close: () => transport.close(),
    isJson: isEventPacket,
    change(packet, replace) {
      if (!isEventPacket(packet)) return packet;
      const data = replaceJsonInText(packet.data, replace);
      // Returns a new packet, because the original may hold a pre-encoded frame with the unchanged text.
      return { type: packet.type, data: data === INVALID_JSON ? "2/markets,[" : data };
    },
  });
  transport.send = (packets) => {
    if (faults.isInactive) return send(packets);
    batch = [];
    for (const packet of packets) {
      if (packet.type === "message") channel.send(packet);
      else if (!channel.isFrozen) batch.push(packet);
    }
    const packetsToSend = batch;
    batch = null;
    if (packetsToSend.length > 0) send(packetsToSend);
  };
  transport.once("close", () => channel.end());
}
