import type { Socket } from "socket.io";
import type { WebSocket } from "ws";
import { distort, isDistorting } from "./distort.ts";
import type { VenueFaults } from "./venue-faults.ts";

/** Whether a socket closes or freezes is drawn at its first message and at every so many after it. */
const CONNECTION_DRAW_EVERY = 20;
const UNREADABLE = '\u0000{"type":';
/** Socket.IO's event packet: kind, namespace, then the JSON. */
const SOCKET_IO_EVENT = /^2(\/[^,]*,)?(?=\[)/;

/** One connection's way out: what is to be sent goes in, what is sent comes out, late, twice, changed or not at all. */
export class FaultyLane<Message> {
  readonly #faults: VenueFaults;
  readonly #options: LaneOptions<Message>;
  readonly #stopListening: () => void;
  #sent = 0;
  #late: Message | null = null;
  #isFrozen = false;
  #isClosed = false;

  constructor(faults: VenueFaults, options: LaneOptions<Message>) {
    this.#faults = faults;
    this.#options = options;
    this.#stopListening = faults.onChange(() => {
      if (!faults.isOn("socket_frozen")) this.#isFrozen = false;
      if (!faults.isOn("socket_out_of_order")) this.#sendLate();
    });
  }

  /** Says nothing, not even a ping. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  send(message: Message): void {
    const faults = this.#faults;
    const { deliver, close, change, isJson } = this.#options;
    if (faults.isQuiet) {
      deliver(message);
      return;
    }
    // Whoever sends a burst goes on after the end: one connection is dropped, and frozen, once.
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
    let text = message;
    if (isJson(text) && faults.draw("socket_garbage") !== null) text = change(text, () => UNREADABLE);
    else if (isDistorting(faults)) text = change(text, (json) => distort(json, faults));
    if (this.#late === null && faults.draw("socket_out_of_order") !== null) {
      this.#late = text;
      return;
    }
    deliver(text);
    if (faults.draw("socket_duplicate") !== null) deliver(text);
    this.#sendLate();
  }

  /** The connection is over. */
  end(): void {
    this.#late = null;
    this.#stopListening();
  }

  #sendLate(): void {
    const late = this.#late;
    this.#late = null;
    if (late !== null) this.#options.deliver(late);
  }
}

interface LaneOptions<Message> {
  deliver(message: Message): void;
  close(): void;
  /** Whether there is anything that `change` could replace. */
  isJson(message: Message): boolean;
  /** The message with its JSON replaced by what `replace` makes of it; `UNREADABLE` is put in as it is. */
  change(message: Message, replace: (json: unknown) => unknown): Message;
}

/** The text before the JSON of a message, or null where it is a word without any. */
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
  return replaced === UNREADABLE ? UNREADABLE : prefix + JSON.stringify(replaced);
}

/** From now on what is sent on this socket passes the venue's faults. */
export function disturbSocket(socket: WebSocket, faults: VenueFaults | undefined): void {
  if (faults === undefined) return;
  const send = socket.send.bind(socket) as (text: string) => void;
  const ping = socket.ping.bind(socket) as (data?: string) => void;
  const lane = new FaultyLane<string>(faults, {
    deliver: (text) => {
      if (socket.readyState === socket.OPEN) send(text);
    },
    close: () => socket.terminate(),
    isJson: (text) => prefixOf(text) !== null,
    change: changeText,
  });
  socket.send = (data: unknown) => lane.send(String(data));
  socket.ping = (data?: unknown) => {
    if (!lane.isFrozen) ping(data === undefined ? undefined : String(data));
  };
  socket.on("close", () => lane.end());
}

type Transport = Socket["conn"]["transport"];
type Packet = Parameters<Transport["send"]>[0][number];

const isEventPacket = (packet: Packet): packet is Packet & { readonly data: string } =>
  typeof packet.data === "string" && SOCKET_IO_EVENT.test(packet.data);

/** The same for a Socket.IO connection, whose transport sends packets of its own. */
export function disturbTransport(transport: Transport, faults: VenueFaults | undefined): void {
  if (faults === undefined) return;
  const send = transport.send.bind(transport);
  let out: Packet[] | null = null;
  const lane = new FaultyLane<Packet>(faults, {
    deliver: (packet) => {
      if (out === null) send([packet]);
      else out.push(packet);
    },
    close: () => transport.close(),
    isJson: isEventPacket,
    change(packet, replace) {
      if (!isEventPacket(packet)) return packet;
      const data = changeText(packet.data, replace);
      // Socket.IO may have made the frame of the unchanged text already.
      return { type: packet.type, data: data === UNREADABLE ? "2/markets,[" : data };
    },
  });
  transport.send = (packets) => {
    if (faults.isQuiet) return send(packets);
    out = [];
    for (const packet of packets) {
      if (packet.type === "message") lane.send(packet);
      else if (!lane.isFrozen) out.push(packet);
    }
    const passed = out;
    out = null;
    if (passed.length > 0) send(passed);
  };
  transport.once("close", () => lane.end());
}
