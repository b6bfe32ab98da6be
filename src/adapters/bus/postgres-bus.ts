import { Socket } from "node:net";
import pg from "pg";
import type { Bus } from "../../ports/bus.ts";
import { type BusConnection, type BusPorts, createReconnectingBus } from "./reconnecting-bus.ts";

const CHANNEL_NAME_PATTERN = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * A bus over LISTEN and NOTIFY on a dedicated connection, because pooled connections are not permanent. NOTIFY holds a
 * server-wide lock during the commit. To hold the lock only briefly, batches are sent one at a time with asynchronous
 * commit.
 *
 * @param options.channel  name of the channel, which must be the same in all processes that communicate
 */
export function openPostgresBus(options: BusPorts & { readonly url: string; readonly channel?: string }): Bus {
  const { url, channel = "parallax_bus" } = options;
  if (!CHANNEL_NAME_PATTERN.test(channel)) throw new RangeError(`not a channel name: ${channel}`);
  return createReconnectingBus("postgres", options, (receive) => connect(url, channel, receive));
}

function connect(url: string, channel: string, receive: (text: string) => void): BusConnection {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    application_name: channel,
    stream: () => socket,
  });
  const loss = Promise.withResolvers<string>();
  client.on("error", (error) => loss.resolve(error.message));
  client.on("end", () => loss.resolve("the server ended the connection"));
  client.on("notification", ({ payload }) => receive(payload ?? ""));
  return {
    ready: client.connect().then(() => client.query(`set synchronous_commit = off; listen ${channel}`)),
    send: (texts) => client.query("select pg_notify($1, text) from unnest($2::text[]) as text", [channel, texts]),
    ping: () => client.query("select 1"),
    lost: loss.promise,
    destroy: () => void socket.destroy(),
  };
}
