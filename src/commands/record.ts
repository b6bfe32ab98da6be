import { readFile } from "node:fs/promises";
import { createSocketIoClient } from "../adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../adapters/network/undici-http.ts";
import { createWsSockets } from "../adapters/network/ws-socket.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../ports/log.ts";
import { openRecordingWriter, recordVenue, recordVenues } from "../recording/index.ts";
import { loadVenue } from "../venues/registry.ts";

const CHECK_EVERY_MS = 250;

export interface RecordOptions {
  readonly config: Config;
  readonly log: Log;
  /** New file; gzip where it ends in .gz. */
  readonly file: string;
  /** For people: where the facts come from. */
  readonly source: string;
  /** Stops after so long; null goes on until `signal` or the full size. */
  readonly durationMs: number | null;
  /** Size of the text, before compression, at which it stops. */
  readonly bytesMax: number;
  /** Base URLs by adapter and service where a venue has none of its own in the settings. */
  readonly urls: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly signal: AbortSignal;
  /** Told a few times a second. */
  readonly onProgress: (progress: RecordProgress) => void;
}

export interface RecordProgress {
  readonly facts: number;
  readonly leftOut: number;
  readonly bytes: number;
  /** What adapters received and could not use. */
  readonly drops: number;
}

/**
 * Records what the configured venues' adapters deliver until the time is over, the file is full or the signal aborts, and
 * ends the file in good order.
 * @throws RecordingError when the file is there already or cannot be written
 */
export async function record(options: RecordOptions): Promise<RecordProgress> {
  const { config, log, file, source, bytesMax, urls } = options;
  const writer = await openRecordingWriter({ file, header: { startedAt: systemClock.now(), source }, bytesMax });
  const http = createUndiciHttp(systemClock);
  const sockets = createWsSockets(systemClock);
  const socketIo = createSocketIoClient(systemClock);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let drops = 0;
  const progress = (): RecordProgress => ({
    facts: writer.facts,
    leftOut: writer.leftOut,
    bytes: writer.bytes,
    drops,
  });
  const until = options.durationMs === null ? Number.POSITIVE_INFINITY : systemClock.monotonic() + options.durationMs;
  try {
    const venues = await Promise.all(
      config.venues.map(async (setting) => {
        const key = config.venueKeys[setting.adapter];
        const createVenue = await loadVenue(setting);
        const adapter = createVenue(
          {
            http,
            sockets,
            socketIo,
            clock: systemClock,
            random: systemRandom,
            log,
            drop: (_reason, count = 1) => {
              drops += count;
            },
            // What is recorded is what adapters make of the wire; its drift is the running service's to watch.
            drift: () => {},
          },
          { ...urls[setting.adapter], ...config.venueUrls[setting.adapter] },
          key === undefined ? null : { keyId: key.keyId, privateKeyPem: await readFile(key.privateKeyFile, "utf8") },
        );
        return recordVenue(adapter, { venue: setting.adapter, clock: systemClock, append: writer.append });
      }),
    );
    const watch = async () => {
      while (!signal.aborted) {
        await systemClock.sleep(CHECK_EVERY_MS, signal).catch(() => {});
        options.onProgress(progress());
        if (writer.isFull || systemClock.monotonic() >= until) stop.abort();
      }
    };
    const reading = recordVenues({ venues, ready: writer.ready, clock: systemClock, log, signal });
    await Promise.all([reading, watch()]);
  } finally {
    stop.abort();
    await writer.close();
    await http.close();
  }
  return progress();
}
