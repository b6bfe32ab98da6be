import { NodeWebSocket } from "socket.io-client";
import { Decoder, isPacketValid, type Packet, PacketType } from "socket.io-parser";
import { isNestedDeeper, JSON_DEPTH_MAX, JsonBoundError } from "../../lib/json/json-depth.ts";
import { endLimited } from "./response-limits.ts";

/** Maximum number of events before the connection to the namespace is accepted. The library keeps them in memory. */
export const EARLY_EVENTS_MAX = 100;

/**
 * WebSocket transport that limits the handshake and closes the connection if a packet is malformed or nested too
 * deeply. The transport of the library throws instead, within an event of the socket, which ends the process.
 */
export class CheckedWebSocket extends NodeWebSocket {
  /** Limits the response of the handshake. The library does not pass the option `finishRequest` of `ws` through. */
  override createSocket(...[url, protocols, options]: Parameters<NodeWebSocket["createSocket"]>) {
    return super.createSocket(url, protocols, Object.assign({}, options, { finishRequest: endLimited }));
  }

  protected override onData(data: Parameters<NodeWebSocket["onData"]>[0]): void {
    try {
      if (typeof data === "string" && isNestedDeeper(data, JSON_DEPTH_MAX))
        throw new JsonBoundError("nested too deeply");
      super.onData(data);
    } catch (error) {
      this.onError("malformed packet", error);
    }
  }
}

/**
 * Returns a Socket.IO decoder that throws for a packet without the data that its type requires, and for more than
 * `EARLY_EVENTS_MAX` early events. The client then closes the connection. Without these checks, the library would fail
 * later, outside its own error handling.
 *
 * @param countEarlyEvents number of events that the client keeps until the namespace is connected
 */
export function createDecoderClass(countEarlyEvents: () => number): typeof Decoder {
  return class CheckedDecoder extends Decoder {
    constructor() {
      super();
      // Registered first, so that the client does not receive an invalid packet.
      this.on("decoded", (packet: Packet) => {
        if (!isPacketValid(packet)) throw new Error("a packet lacks data that its type requires");
        if (packet.type === PacketType.EVENT && countEarlyEvents() >= EARLY_EVENTS_MAX) {
          throw new Error("too many events before the connection to the namespace");
        }
      });
    }
  };
}
