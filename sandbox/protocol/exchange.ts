import type { FastifyInstance } from "fastify";
import type { SandboxFaults } from "../faults/venue-faults.ts";
import type { Feed, World } from "../world/types.ts";

/** Wall-clock time of the sandbox, Unix milliseconds. Injected so that tests can fix it. */
export type Now = () => number;

/** Dependencies of a simulated venue. */
export interface ExchangeContext {
  readonly world: World;
  readonly feed: Feed;
  readonly now: Now;
  /** True if the venue's published rate limits are enforced. */
  readonly enforceLimits: boolean;
  /** Fault switches of the venues. If absent, the venues have no faults. */
  readonly faults?: SandboxFaults;
}

/** A REST or WebSocket interface of a simulated venue. Each has one of each; Polymarket has three REST interfaces. */
export interface ExchangeService {
  /** Venue name, or "control". First key of the printed URLs. */
  readonly venue: string;
  /** Second key of the printed URLs: "rest", "ws", "gamma", "clob" or "data". */
  readonly name: string;
  /** Path prefix of all routes, for example "/trade-api/v2". */
  readonly basePath?: string;
  /** Services with the same `listener` share one port. The default is the venue. */
  readonly listener?: string;
  /** Registers routes and WebSocket upgrades on a Fastify instance without other plugins. */
  install(app: FastifyInstance): void;
}

/** Creates all services of one venue over one world. */
export type ExchangeFactory = (context: ExchangeContext) => readonly ExchangeService[];
