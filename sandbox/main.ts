import { setTimeout as wait } from "node:timers/promises";
import { createControlService } from "./control.ts";
import { parseFaultText } from "./faults/switches.ts";
import { createFaults } from "./faults/venue-faults.ts";
import { kalshiExchange } from "./protocol/kalshi/index.ts";
import { limitlessExchange } from "./protocol/limitless/index.ts";
import { manifoldExchange } from "./protocol/manifold/index.ts";
import { polymarketExchange } from "./protocol/polymarket/index.ts";
import type { loadRecordedWorld } from "./recorded/index.ts";
import { type ServiceUrls, serveExchanges } from "./serve.ts";
import { createFeed, createWorld, type WorldOptions } from "./world/index.ts";
import { createPlantedWorld } from "./world/plants.ts";
import { uniform } from "./world/random.ts";
import { SANDBOX_VENUES } from "./world/types.ts";

const FEED_INTERVAL_MS = 50;
/** Key of the random stream for faults. The world uses other keys. */
const FAULT_STREAM = 0x4641554c;

export interface SandboxOptions extends WorldOptions {
  readonly host: string;
  /** Port of the control server; the venues use the following ports. If 0, every server uses a free port. */
  readonly firstPort: number;
  /** Whether the venues' published request limits are enforced. */
  readonly enforceLimits: boolean;
  /** Initial fault switches: `venue:switch=rate,...;venue:...`. The control server can change them. */
  readonly faults?: string;
  /** Wall-clock time, Unix milliseconds. */
  readonly now: () => number;
  /** The recording to replay; null for a simulated world. `speed` is the replay speed relative to the recording. */
  readonly recording?: {
    readonly file: string;
    /** Share of the recording that lies before the start of the world (`genesis`), in [0, 1]. */
    readonly pastShare: number;
  } | null;
}

export interface RunningSandbox {
  /** Base URLs by venue and service. `control.rest` is the URL of the control server. */
  readonly urls: ServiceUrls;
  close(): Promise<void>;
}

/** Imports the reader of recordings on demand. Its schemas take 23 MB of memory, which a simulated world does not need. */
async function replayRecording(options: Parameters<typeof loadRecordedWorld>[0]): ReturnType<typeof loadRecordedWorld> {
  const { loadRecordedWorld } = await import("./recorded/index.ts");
  return loadRecordedWorld(options);
}

/**
 * Starts the four venues, which share one simulated or replayed world, and the control server.
 *
 * @throws RecordingError if the recording cannot be read
 * @throws FaultError if `faults` is invalid
 */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const initialFaults = parseFaultText(options.faults ?? "", SANDBOX_VENUES);
  const world = createPlantedWorld(
    options.recording ? await replayRecording({ ...options, ...options.recording }) : createWorld(options),
  );
  const feed = createFeed(world, { now: options.now, intervalMs: FEED_INTERVAL_MS });
  const faults = createFaults((...keys) => uniform(options.seed, FAULT_STREAM, ...keys));
  for (const venue of SANDBOX_VENUES) faults[venue].replace(initialFaults.get(venue) ?? {});
  const context = { world, feed, faults, now: options.now, enforceLimits: options.enforceLimits };
  const services = [
    ...kalshiExchange(context),
    ...polymarketExchange(context),
    ...limitlessExchange(context),
    ...manifoldExchange(context),
  ];
  const { host, firstPort } = options;
  const exchanges = await serveExchanges(services, {
    host,
    firstPort: firstPort === 0 ? 0 : firstPort + 1,
    faults: { byVenue: faults, now: options.now, wait },
  });
  const control = await serveExchanges(
    [createControlService({ ...context, plants: { world, feed } }, exchanges.urls, host)],
    {
      host,
      firstPort,
    },
  );
  return {
    urls: { ...exchanges.urls, ...control.urls },
    async close() {
      feed.close();
      await Promise.all([exchanges.close(), control.close()]);
    },
  };
}
