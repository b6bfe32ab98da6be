import type { FastifyInstance } from "fastify";
import type { SandboxFaults } from "../faults/venue-faults.ts";
import type { Feed, World } from "../world/types.ts";

/** Wall-clock time of the sandbox, Unix milliseconds; injected so that tests can hold it still. */
export type Now = () => number;

/** What every simulated venue is given. */
export interface ExchangeContext {
  readonly world: World;
  readonly feed: Feed;
  readonly now: Now;
  /** Whether the venue's published request limits are enforced. */
  readonly enforceLimits: boolean;
  /** Switches that spoil what the venues send; none can be thrown where there are none. */
  readonly faults?: SandboxFaults;
}

/**
 * One listening address of a simulated venue (Polymarket has several). `install` registers routes on a bare Fastify
 * instance (no body parsing surprises, own error shapes); `attachSockets` handles WebSocket upgrades on its server.
 */
export interface ExchangeService {
  /** Name under which its addresses are printed: the venue's, or `control`. */
  readonly venue: string;
  /** Key in the printed JSON line: "rest", "ws", "gamma", "clob", "data". */
  readonly name: string;
  /** Path that clients put before their own paths, for example "/trade-api/v2". */
  readonly basePath: string;
  readonly scheme: "http" | "ws";
  /** Services with the same `listener` share one port. */
  readonly listener: string;
  install(app: FastifyInstance): void;
}

/** Builds all services of one venue over one world. */
export type ExchangeFactory = (context: ExchangeContext) => readonly ExchangeService[];
