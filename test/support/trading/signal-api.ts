import assert from "node:assert/strict";
import { setImmediate as nextIteration } from "node:timers/promises";
import { type BoardMarket, MarketBoard } from "../../../src/board/index.ts";
import type { StoredAnalysis } from "../../../src/capabilities/analysis/analyses/index.ts";
import type { RelatedMarket } from "../../../src/capabilities/markets/relations/index.ts";
import { signalRoutes } from "../../../src/capabilities/strategy/signals/routes.ts";
import { createSignalsService, type SignalDependencies } from "../../../src/capabilities/strategy/signals/service.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { analyse, ENGINE_COEFFICIENTS } from "../../../src/engine/index.ts";
import { DAY_MS } from "../../../src/lib/durations.ts";
import type { ShadowEntry } from "../../../src/trading/index.ts";
import { NO_RESEARCH } from "../analyses/no-research.ts";
import { unmoved } from "../analyses/unmoved.ts";
import { createView } from "../engine/market-views.ts";
import { FakeClock } from "../fake-clock.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../markets/market-samples.ts";
import { testServer, VALID_KEY } from "../test-app.ts";

export const FED_TITLE = "Will the Fed cut rates in March?";
const VENUES = { trading: ["alpha", "beta"], all: ["alpha", "beta", "gamma"] };
export const KEY = { authorization: `Bearer ${VALID_KEY}` };

/** An analysis of the market "fed" whose estimate is far above its price of 0.41. */
export function sampleAnalysis(probability: number, changes: Partial<StoredAnalysis> = {}): StoredAnalysis {
  const analysis = analyse(createView({ asOf: SAMPLE_AT }), ENGINE_COEFFICIENTS);
  assert.ok(analysis !== null);
  const recommendation = probability > 0.44 ? "BUY_YES" : probability < 0.38 ? "BUY_NO" : "NO_TRADE";
  return {
    analysisId: "plx-1",
    venue: "alpha",
    marketId: "fed",
    type: "light",
    analysedAt: SAMPLE_AT,
    result: {
      title: FED_TITLE,
      analysis: { ...analysis, probability, standardError: 0.1, dailyMove: 0.3, recommendation },
      research: NO_RESEARCH,
      durationMs: 5,
    },
    ...changes,
  };
}

/** A market of beta at 0.40 to 0.42 that depends on the market "fed". */
export function relatedTo(
  title: string,
  dependence: RelatedMarket["dependence"],
  correlation: number | null = null,
): RelatedMarket {
  const board = new MarketBoard(() => SAMPLE_AT);
  const { market } = board.apply(sampleMarket("related", { listing: { venue: "beta", title } }), SAMPLE_AT);
  return { market, dependence, correlation };
}

/** Opens the route with one market, "fed" on alpha, quoted at 0.40 and 0.42 with 1,000 contracts on each side. */
export async function openSignalApi(
  { related = [], ...ports }: Partial<SignalDependencies> & { readonly related?: readonly RelatedMarket[] } = {},
  stored: StoredAnalysis | null = sampleAnalysis(0.6),
) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer();
  const addMarket = (
    marketId: string,
    listing: SampleParts["listing"] = {},
    quote: SampleParts["quote"] = {},
    activity: SampleParts["activity"] = {},
  ): BoardMarket =>
    board.apply(
      sampleMarket(marketId, {
        listing: { takerFee: { kind: "none" }, closeAt: SAMPLE_AT + 20 * DAY_MS, title: FED_TITLE, ...listing },
        quote,
        activity,
      }),
      SAMPLE_AT,
    ).market;
  addMarket("fed");
  const entries: ShadowEntry[] = [];
  const state = { stored, run: "running" as "running" | "complete" | "error", requests: 0, polls: 0 };
  const service = createSignalsService({
    board,
    clock,
    venues: VENUES.trading,
    pairsOf: () => [],
    getMarket: async () => {
      throw new AppError("market_not_found", "There is no such market on this venue");
    },
    analyses: {
      latest: async () => state.stored,
      move: (analysis) => unmoved(analysis, clock.now() - analysis.analysedAt > 3 * DAY_MS ? "expired" : "fresh"),
      async analyse() {
        state.requests += 1;
        return { analysisId: "plx-2", estimatedSeconds: 40 };
      },
      async getStatus() {
        state.polls += 1;
        const run = {
          analysisId: "plx-2",
          venue: "alpha",
          marketId: "fed",
          type: "light" as const,
          requestedAt: SAMPLE_AT,
          status: state.run,
          errorMessage: state.run === "error" ? "The analysis failed." : null,
        } as const;
        return { run, estimatedSeconds: 1 };
      },
    },
    readBook: async () => ({
      bids: [{ price: 0.4, size: 1_000 }],
      asks: [{ price: 0.42, size: 1_000 }],
      lastPrice: null,
      eventAt: null,
      receivedAt: clock.now(),
    }),
    isPlayMoney: () => false,
    enterShadowTrade: async (entry) => entries.push(entry),
    ...ports,
  });
  signalRoutes(app, {
    service,
    venues: VENUES,
    findRelatedMarkets: async () => related,
    probabilityOf: ({ yesPrice }) => yesPrice,
  });
  const ask = (body: object = { platform: "alpha", market_id: "fed" }, query = "") =>
    app.inject({ method: "POST", url: `/v1/signals${query}`, headers: KEY, payload: body });
  /** Sends a request with `wait=true`. Resolves once the call polls the run. */
  const askAndWait = async () => {
    const earlier = state.polls;
    const reply = app.inject({
      method: "POST",
      url: "/v1/signals?wait=true",
      headers: KEY,
      payload: { market_id: "fed" },
    });
    while (state.polls === earlier) await nextIteration();
    return { reply };
  };
  return { app, clock, board, addMarket, service, state, entries, ask, askAndWait };
}
