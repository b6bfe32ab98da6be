import { isListed, type ListedEvent } from "../../world/types.ts";
import { eventJson, eventMetadataJson } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { marketJson } from "./market-json.ts";
import { pageOf } from "./pages.ts";
import { notFound } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const EVENTS_MAX = 200;
const TICKERS_MAX = 200;
const STATUS_WORDS = ["unopened", "open", "closed", "settled"] as const;

export function installEvents(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const eventOf = (ticker: string): ListedEvent => {
    const event = catalogue.event(ticker);
    if (event === null) throw notFound();
    return event;
  };
  const nestedMarkets = (event: ListedEvent) =>
    event.markets
      .filter((market) => isListed(market, now()) && !catalogue.isHistorical(market))
      .map((market) => marketJson(world, market, now()));

  const statusOf = (event: ListedEvent): (typeof STATUS_WORDS)[number] => {
    const phases = event.markets.map((market) => world.lifecycle(market, now()).phase);
    if (phases.some((phase) => phase === "active" || phase === "paused")) return "open";
    if (phases.every((phase) => phase === "pending")) return "unopened";
    return phases.every((phase) => phase === "finalized") ? "settled" : "closed";
  };

  get("/events", ({ query }) => {
    const limit = query.limit(EVENTS_MAX, EVENTS_MAX);
    const status = query.word("status", STATUS_WORDS);
    const seriesTicker = query.text("series_ticker");
    const closeMin = query.time("min_close_ts") ?? 0;
    const updatedMin = query.time("min_updated_ts") ?? 0;
    const isNested = query.flag("with_nested_markets");
    const tickers = query.list("tickers", TICKERS_MAX);
    const chosen =
      tickers === null
        ? catalogue.events()
        : tickers.map((ticker) => catalogue.event(ticker)).filter((event) => event !== null);
    const { page, cursor } = pageOf(
      chosen,
      query.text("cursor"),
      limit,
      (event) =>
        event.closeAt >= closeMin &&
        event.openAt >= updatedMin &&
        (seriesTicker === null || kalshiSeriesTicker(event) === seriesTicker) &&
        (status === null || statusOf(event) === status),
    );
    const events = page.map((event) =>
      isNested ? { ...eventJson(event), markets: nestedMarkets(event) } : eventJson(event),
    );
    return { events, ...(query.flag("with_milestones") ? { milestones: [] } : {}), cursor };
  });

  // No combos are minted here, and no fees change.
  get("/events/multivariate", () => ({ events: [], cursor: "" }));
  get("/multivariate_event_collections", () => ({ multivariate_contracts: [], cursor: "" }));
  get("/events/fee_changes", () => ({ event_fee_changes: [], cursor: "" }));

  get("/events/:event", ({ query, path }) => {
    const event = eventOf(path("event"));
    const markets = nestedMarkets(event);
    if (query.flag("with_nested_markets")) return { event: { ...eventJson(event), markets }, markets };
    return { event: eventJson(event), markets };
  });

  get("/events/:event/metadata", ({ path }) => eventMetadataJson(eventOf(path("event"))));
}
