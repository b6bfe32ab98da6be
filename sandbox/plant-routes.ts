import type { FastifyInstance } from "fastify";
import type { Now } from "./protocol/exchange.ts";
import { polymarketEventId } from "./protocol/polymarket/index.ts";
import { marketIdOf } from "./truth-routes.ts";
import { PlantError, type PlantedWorld } from "./world/plants.ts";
import { RESOLUTION_STEPS } from "./world/resolution-plants.ts";
import { LEFT_OUT_ROWS } from "./world/set-plants.ts";
import {
  type FeedWithManualChanges,
  type ListedEvent,
  type ListedMarket,
  SANDBOX_VENUES,
  type WorldOutcome,
} from "./world/types.ts";

const USD_MAX = 10_000_000;

interface PlantBody {
  readonly market_id?: unknown;
  readonly move?: unknown;
  readonly usd?: unknown;
  readonly side?: unknown;
  readonly taker?: unknown;
  readonly step?: unknown;
  readonly outcome?: unknown;
}

export interface Plants {
  readonly world: PlantedWorld;
  readonly feed: FeedWithManualChanges;
}

/**
 * Registers the routes by which tests change the world from now on ("plants"):
 * - `POST /plants/{venue}/shift`: `market_id`, `move` in price units
 * - `POST /plants/{venue}/trade`: `market_id`, `side`, `usd`, `taker` (number of a trader)
 * - `POST /plants/polymarket/resolution`: `market_id`, `step` (`ResolutionStep`), `outcome` (yes, no, void; default
 * yes)
 * - `POST /plants/polymarket/set`: `left_out` (`NotTradableReason` or null). The asks of an exclusive event then sum to less
 * than 1.
 */
export function installPlantRoutes(app: FastifyInstance, plants: Plants, now: Now): void {
  const { world, feed } = plants;
  installSetRoute(app, plants, now);
  app.post<{ Params: { venue: string; kind: string }; Body: PlantBody | null }>(
    "/plants/:venue/:kind",
    ({ params: { venue: venueName, kind }, body }, reply) => {
      const at = now();
      const venue = SANDBOX_VENUES.find((name) => name === venueName);
      const { market_id: marketId, move, usd, side, taker } = body ?? {};
      const market = venue && world.markets(venue, at).find((candidate) => marketIdOf(candidate) === marketId);
      if (market === undefined) return reply.code(404).send({ error: "market_id must be the id of a listed market" });
      if (kind === "resolution" && venue === "polymarket") {
        const planted = plantResolution(world, market, at, body ?? {});
        if (!planted) return reply.code(400).send({ error: "give a step and an outcome: yes, no or void" });
        feed.touch(market, at);
        return { at, market_id: marketId };
      }
      if (world.lifecycle(market, at).phase !== "active")
        return reply.code(400).send({ error: "the market must be active" });
      try {
        if (kind === "shift" && typeof move === "number" && move > -1 && move < 1) {
          world.plantShift(market, at, move);
          feed.touch(market, at);
          return { at, market_id: marketId, move };
        }
        const isTrade = kind === "trade" && (side === "yes" || side === "no") && isTaker(taker);
        if (isTrade && typeof usd === "number" && usd > 0 && usd <= USD_MAX) {
          const trade = world.plantTrade(market, at, { side, usd, ...(taker !== undefined && { taker }) });
          feed.touch(market, at);
          return { at, market_id: marketId, trade };
        }
      } catch (error) {
        if (!(error instanceof PlantError)) throw error;
        return reply.code(400).send({ error: error.message });
      }
      return reply
        .code(400)
        .send({ error: "give a shift with move, or a trade with side (yes or no), usd and taker (an integer)" });
    },
  );
}

function installSetRoute(app: FastifyInstance, { world, feed }: Plants, now: Now): void {
  app.post<{ Body: { readonly event_id?: unknown; readonly left_out?: unknown } | null }>(
    "/plants/polymarket/set",
    ({ body }, reply) => {
      const at = now();
      const { event_id: eventId = null, left_out: rowName = null } = body ?? {};
      const row = rowName === null ? null : LEFT_OUT_ROWS.find((name) => name === rowName);
      if (row === undefined)
        return reply.code(400).send({ error: `left_out must be ${LEFT_OUT_ROWS.join(", ")} or null` });
      const isChosen = (event: ListedEvent) => eventId === null || polymarketEventId(event) === eventId;
      try {
        const planted = world.plantSet(world.events("polymarket", at).filter(isChosen), at, row);
        for (const market of planted.event.markets) feed.touch(market, at);
        return {
          at,
          event_id: polymarketEventId(planted.event),
          complete: planted.complete,
          outcomes: planted.outcomes.map(({ market, ask }) => ({ market_id: marketIdOf(market), ask })),
          left_out: planted.leftOut && { market_id: marketIdOf(planted.leftOut.market), row: planted.leftOut.row },
        };
      } catch (error) {
        if (!(error instanceof PlantError)) throw error;
        return reply.code(400).send({ error: error.message });
      }
    },
  );
}

const OUTCOMES: readonly WorldOutcome[] = [{ kind: "yes" }, { kind: "no" }, { kind: "void" }];

/** Returns false if the step or the outcome is invalid. */
function plantResolution(
  world: PlantedWorld,
  market: ListedMarket,
  at: number,
  { step: stepName, outcome: kind = "yes" }: PlantBody,
): boolean {
  const step = RESOLUTION_STEPS.find((name) => name === stepName);
  const outcome = OUTCOMES.find((candidate) => candidate.kind === kind);
  if (step === undefined || outcome === undefined) return false;
  world.plantResolution(market, at, step, step === "past_end_date" ? null : outcome);
  return true;
}

const isTaker = (value: unknown): value is number | undefined =>
  value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0);
