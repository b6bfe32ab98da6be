import { readFile } from "node:fs/promises";
import { createSocketIoClient } from "../adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../adapters/network/undici-http.ts";
import { createWsSockets } from "../adapters/network/ws-socket.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../ports/log.ts";
import { openRecordingWriter, recordVenue, recordVenues } from "../recording/index.ts";
import { loadVenue, type VenueSetting } from "../venues/registry.ts";

const CHECK_INTERVAL_MS = 250;

export interface RecordingOptions {
  readonly config: Config;
  readonly log: Log;
  /** New file; gzip if it ends in .gz. */
  readonly file: string;
  /** Description of the data's origin, stored in the file's header. */
  readonly source: string;
  /** Stops after this time; null records until `signal` aborts or the file is full. */
  readonly durationMs: number | null;
  /** Size limit of the text before compression. */
  readonly bytesMax: number;
  /** Base URLs by adapter and service; those of the settings take precedence. */
  readonly urls: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly signal: AbortSignal;
  /** Called four times a second. */
  readonly onProgress: (progress: RecordingProgress) => void;
}

export interface RecordingProgress {
  readonly facts: number;
  readonly discarded: number;
  readonly bytes: number;
  /** Records that the adapters received and dropped. */
  readonly drops: number;
}

/**
 * Records the data of the configured venues until the duration ends, the file is full or the signal aborts, then
 * completes the file.
 *
 * @throws RecordingError if the file exists already or cannot be written
 */
export async function recordToFile(options: RecordingOptions): Promise<RecordingProgress> {
  const { config, log, file, source, bytesMax, urls, durationMs, onProgress } = options;
  const clock = systemClock;
  const writer = await openRecordingWriter({ file, header: { startedAt: clock.now(), source }, bytesMax });
  const http = createUndiciHttp(clock);
  const sockets = createWsSockets(clock);
  const socketIo = createSocketIoClient(clock);
  const stopController = new AbortController();
  const signal = AbortSignal.any([options.signal, stopController.signal]);
  let drops = 0;
  const countDrops = (_reason: string, count = 1) => {
    drops += count;
  };
  const readProgress = (): RecordingProgress => {
    const { facts, discarded, bytes } = writer;
    return { facts, discarded, bytes, drops };
  };
  const openVenueRecorder = async (setting: VenueSetting) => {
    const { adapter } = setting;
    const key = config.venueKeys[adapter];
    const createVenue = await loadVenue(setting);
    const venue = createVenue(
      // Schema drift is reported by the running service, not by a recording.
      { http, sockets, socketIo, clock, random: systemRandom, log, countDrop: countDrops, drift: () => {} },
      { ...urls[adapter], ...config.venueUrls[adapter] },
      {
        key: key === undefined ? null : { keyId: key.keyId, privateKeyPem: await readFile(key.privateKeyFile, "utf8") },
        member: config.venueMembers[adapter] ?? null,
      },
    );
    return recordVenue(venue, { venue: adapter, clock, append: writer.append });
  };
  const endsAt = durationMs === null ? Number.POSITIVE_INFINITY : clock.monotonic() + durationMs;
  const stopAtLimit = async () => {
    while (!signal.aborted) {
      await clock.sleep(CHECK_INTERVAL_MS, signal).catch(() => {});
      onProgress(readProgress());
      if (writer.isFull || clock.monotonic() >= endsAt) stopController.abort();
    }
  };
  try {
    const venues = await Promise.all(config.venues.map(openVenueRecorder));
    await Promise.all([recordVenues({ venues, ready: writer.ready, clock, log, signal }), stopAtLimit()]);
  } finally {
    stopController.abort();
    await writer.close();
    await http.close();
  }
  return readProgress();
}
