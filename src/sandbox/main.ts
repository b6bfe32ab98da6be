import { createControl } from "./control.ts";
import { kalshiExchange } from "./protocol/kalshi/index.ts";
import { limitlessExchange } from "./protocol/limitless/index.ts";
import { manifoldExchange } from "./protocol/manifold/index.ts";
import { polymarketExchange } from "./protocol/polymarket/index.ts";
import { type ServiceUrls, serveExchanges } from "./serve.ts";
import { createFeed, createWorld, type WorldOptions } from "./world/index.ts";

const FEED_EVERY_MS = 50;

export interface SandboxOptions extends WorldOptions {
  readonly host: string;
  /** First port of the listeners, or 0 for free ones. */
  readonly firstPort: number;
  /** Whether the venues' published request limits are enforced. */
  readonly enforceLimits: boolean;
  readonly now: () => number;
}

export interface RunningSandbox {
  /** Base URLs by venue and service, and `control.rest` with the page that tells what is served. */
  readonly urls: ServiceUrls;
  close(): Promise<void>;
}

/** Starts the four simulated venues over one world, and the page that describes them. */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const world = createWorld(options);
  const feed = createFeed(world, { now: options.now, intervalMs: FEED_EVERY_MS });
  const context = { world, feed, now: options.now, enforceLimits: options.enforceLimits };
  const services = [
    ...kalshiExchange(context),
    ...polymarketExchange(context),
    ...limitlessExchange(context),
    ...manifoldExchange(context),
  ];
  const { host, firstPort } = options;
  const exchanges = await serveExchanges(services, { host, firstPort: firstPort === 0 ? 0 : firstPort + 1 });
  const control = await serveExchanges([createControl(context, exchanges.urls)], { host, firstPort });
  return {
    urls: { ...exchanges.urls, ...control.urls },
    async close() {
      feed.close();
      await Promise.all([exchanges.close(), control.close()]);
    },
  };
}
