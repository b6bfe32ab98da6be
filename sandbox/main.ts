import { setTimeout as wait } from "node:timers/promises";
import { createControl } from "./control.ts";
import { parseFaultText } from "./faults/switches.ts";
import { createFaults } from "./faults/venue-faults.ts";
import { kalshiExchange } from "./protocol/kalshi/index.ts";
import { limitlessExchange } from "./protocol/limitless/index.ts";
import { manifoldExchange } from "./protocol/manifold/index.ts";
import { polymarketExchange } from "./protocol/polymarket/index.ts";
import { loadRecordedWorld } from "./recorded/index.ts";
import { type ServiceUrls, serveExchanges } from "./serve.ts";
import { createFeed, createWorld, type WorldOptions } from "./world/index.ts";
import { uniform } from "./world/random.ts";
import { SANDBOX_VENUES } from "./world/types.ts";

const FEED_EVERY_MS = 50;
/** Keeps the draws of the faults apart from those of the world. */
const FAULT_DRAWS = 0x4641554c;

export interface SandboxOptions extends WorldOptions {
  readonly host: string;
  /** First port of the listeners, or 0 for free ones. */
  readonly firstPort: number;
  /** Whether the venues' published request limits are enforced. */
  readonly enforceLimits: boolean;
  /** Faults from the start, as `venue:switch=rate,...;venue:...`; more at the control address. */
  readonly faults?: string;
  readonly now: () => number;
  /** A recording to replay instead of simulating; `speed` then says how many times as fast as it was made. */
  readonly recording?: {
    readonly file: string;
    /** Share of it that is past at genesis, in [0, 1]. */
    readonly pastShare: number;
  } | null;
}

export interface RunningSandbox {
  /** Base URLs by venue and service, and `control.rest` with the page that tells what is served. */
  readonly urls: ServiceUrls;
  close(): Promise<void>;
}

/**
 * Starts the four venues over one world, simulated or replayed, and the page that describes them.
 * @throws RecordingError when there is a recording and it cannot be read
 */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const atStart = parseFaultText(options.faults ?? "", SANDBOX_VENUES);
  const world = options.recording
    ? await loadRecordedWorld({ ...options, ...options.recording })
    : createWorld(options);
  const feed = createFeed(world, { now: options.now, intervalMs: FEED_EVERY_MS });
  const faults = createFaults((...keys) => uniform(options.seed, FAULT_DRAWS, ...keys));
  for (const venue of SANDBOX_VENUES) faults[venue].replace(atStart.get(venue) ?? {});
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
  const control = await serveExchanges([createControl(context, exchanges.urls)], { host, firstPort });
  return {
    urls: { ...exchanges.urls, ...control.urls },
    async close() {
      feed.close();
      await Promise.all([exchanges.close(), control.close()]);
    },
  };
}
