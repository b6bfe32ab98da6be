import { Socket } from "node:net";
import pg from "pg";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { type BusConnection, createReconnectingBus } from "./reconnecting-bus.ts";

const CHANNEL_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * A bus over LISTEN and NOTIFY on a dedicated connection, because connections of a pool are not permanent. NOTIFY holds a
 * server-wide lock while it commits; one send at a time with asynchronous commit keeps that short.
 *
 * @param options.channel  shared by the processes that communicate; each test uses its own
 */
export function openPostgresBus(options: {
  readonly url: string;
  readonly channel?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}): Bus {
  const { url, channel = "parallax_bus", clock, random, log } = options;
  if (!CHANNEL_NAME.test(channel)) throw new RangeError(`not a channel name: ${channel}`);
  return createReconnectingBus({
    name: "postgres",
    clock,
    random,
    log,
    connect: (receive, signal) => connect(url, channel, receive, signal),
  });
}

async function connect(
  url: string,
  channel: string,
  receive: (text: string) => void,
  signal: AbortSignal,
): Promise<BusConnection> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    application_name: channel,
    stream: () => socket,
  });
  const lost = Promise.withResolvers<string>();
  client.on("error", (error) => lost.resolve(error.message));
  client.on("end", () => lost.resolve("the server ended the connection"));
  client.on("notification", ({ payload }) => receive(payload ?? ""));
  const destroy = () => void socket.destroy();
  signal.addEventListener("abort", destroy);
  try {
    await client.connect();
    await client.query(`set synchronous_commit = off; listen ${channel}`);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
  return {
    send: (texts) => client.query("select pg_notify($1, text) from unnest($2::text[]) as text", [channel, texts]),
    ping: () => client.query("select 1"),
    lost: lost.promise,
    destroy,
  };
}
