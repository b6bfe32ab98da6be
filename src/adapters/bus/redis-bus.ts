import { Redis } from "ioredis";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { type BusConnection, createReconnectingBus } from "./reconnecting-bus.ts";

const CHANNEL = "bus";

/**
 * The bus over Redis or Valkey: one connection hears, another tells. Nothing is kept there.
 *
 * @param options.prefix  begins the name of the channel; processes hear each other when they name the same
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
    connect: (hear, signal) => connect(url, `${prefix}${CHANNEL}`, hear, signal),
  });
}

async function connect(
  url: string,
  channel: string,
  hear: (text: string) => void,
  signal: AbortSignal,
): Promise<BusConnection> {
  const lost = Promise.withResolvers<string>();
  const open = (name: string) => {
    const redis = new Redis(url, {
      lazyConnect: true,
      connectionName: name,
      // The bus makes its own new connections, queues by itself and asks nothing twice.
      retryStrategy: () => null,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      // Understood by every server there is.
      protocol: 2,
    });
    redis.on("error", (error: Error) => lost.resolve(error.message));
    redis.on("close", () => lost.resolve("the server ended the connection"));
    return redis;
  };
  const hearing = open(`${channel}:hears`);
  const telling = open(`${channel}:tells`);
  const destroy = () => {
    hearing.disconnect();
    telling.disconnect();
  };
  signal.addEventListener("abort", destroy);
  hearing.on("message", (_channel: string, text: string) => hear(text));
  try {
    await Promise.all([hearing.connect(), telling.connect()]);
    await hearing.subscribe(channel);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
  return {
    send: (texts) => Promise.all(texts.map((text) => telling.publish(channel, text))),
    ping: () => Promise.all([hearing.ping(), telling.ping()]),
    lost: lost.promise,
    destroy,
  };
}
