import { Redis } from "ioredis";
import type { Bus } from "../../ports/bus.ts";
import { type BusConnection, type BusPorts, createReconnectingBus } from "./reconnecting-bus.ts";

/**
 * A bus over Redis or Valkey pub/sub, with one connection to subscribe and one to publish.
 *
 * @param options.prefix  prefix of the channel name, shared by the processes that communicate
 */
export function openRedisBus(options: BusPorts & { readonly url: string; readonly prefix?: string }): Bus {
  const { url, prefix = "parallax:" } = options;
  return createReconnectingBus("redis", options, (receive) => connect(url, `${prefix}bus`, receive));
}

function connect(url: string, channel: string, receive: (text: string) => void): BusConnection {
  const loss = Promise.withResolvers<string>();
  const openClient = (connectionName: string) => {
    const redis = new Redis(url, {
      lazyConnect: true,
      connectionName,
      // `createReconnectingBus` reconnects and queues, so the library must not.
      retryStrategy: () => null,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      // All servers support version 2 of the protocol.
      protocol: 2,
    });
    redis.on("error", (error: Error) => loss.resolve(error.message));
    redis.on("close", () => loss.resolve("the server ended the connection"));
    return redis;
  };
  const subscriber = openClient(`${channel}:subscribe`);
  const publisher = openClient(`${channel}:publish`);
  subscriber.on("message", (_channel: string, text: string) => receive(text));
  return {
    ready: Promise.all([subscriber.connect(), publisher.connect()]).then(() => subscriber.subscribe(channel)),
    send: (texts) => Promise.all(texts.map((text) => publisher.publish(channel, text))),
    ping: () => Promise.all([subscriber.ping(), publisher.ping()]),
    lost: loss.promise,
    destroy() {
      subscriber.disconnect();
      publisher.disconnect();
    },
  };
}
