import { Redis } from "ioredis";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { type BusConnection, createReconnectingBus } from "./reconnecting-bus.ts";

const CHANNEL = "bus";

/**
 * A bus over Redis or Valkey pub/sub, with one connection to subscribe and one to publish.
 *
 * @param options.prefix  prefix of the channel name, shared by the processes that communicate
 */
export function openRedisBus(options: {
  readonly url: string;
  readonly prefix?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}): Bus {
  const { url, prefix = "parallax:", clock, random, log } = options;
  return createReconnectingBus({
    name: "redis",
    clock,
    random,
    log,
    connect: (receive, signal) => connect(url, `${prefix}${CHANNEL}`, receive, signal),
  });
}

async function connect(
  url: string,
  channel: string,
  receive: (text: string) => void,
  signal: AbortSignal,
): Promise<BusConnection> {
  const lost = Promise.withResolvers<string>();
  const open = (name: string) => {
    const redis = new Redis(url, {
      lazyConnect: true,
      connectionName: name,
      // `createReconnectingBus` reconnects and queues, so the library must not.
      retryStrategy: () => null,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      // Supported by all servers.
      protocol: 2,
    });
    redis.on("error", (error: Error) => lost.resolve(error.message));
    redis.on("close", () => lost.resolve("the server ended the connection"));
    return redis;
  };
  const subscriber = open(`${channel}:subscribe`);
  const publisher = open(`${channel}:publish`);
  const destroy = () => {
    subscriber.disconnect();
    publisher.disconnect();
  };
  signal.addEventListener("abort", destroy);
  subscriber.on("message", (_channel: string, text: string) => receive(text));
  try {
    await Promise.all([subscriber.connect(), publisher.connect()]);
    await subscriber.subscribe(channel);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
  return {
    send: (texts) => Promise.all(texts.map((text) => publisher.publish(channel, text))),
    ping: () => Promise.all([subscriber.ping(), publisher.ping()]),
    lost: lost.promise,
    destroy,
  };
}
