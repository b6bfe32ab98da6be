import { isListed, type ListedEvent } from "../../world/types.ts";
import { presentEvent } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { presentMarket } from "./market-json.ts";
import { selectPage } from "./paging.ts";
import { createNotFoundError } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const EVENTS_MAX = 200;
const TICKERS_MAX = 200;
const STATUS_VALUES = ["unopened", "open", "closed", "settled"] as const;

export function installEvents(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const presentMarkets = (event: ListedEvent) =>
    event.markets
      .filter((market) => isListed(market, now()) && !catalogue.isHistorical(market))
      .map((market) => presentMarket(world, market, now()));

  const statusOf = (event: ListedEvent): (typeof STATUS_VALUES)[number] => {
    const phases = event.markets.map((market) => world.lifecycle(market, now()).phase);
    if (phases.some((phase) => phase === "active" || phase === "paused")) return "open";
    if (phases.every((phase) => phase === "pending")) return "unopened";
    return phases.every((phase) => phase === "finalized") ? "settled" : "closed";
  };

  get("/events", ({ query }) => {
    const limit = query.readLimit(EVENTS_MAX, EVENTS_MAX);
    const status = query.readChoice("status", STATUS_VALUES);
    const seriesTicker = query.readText("series_ticker");
    const closeMin = query.readTime("min_close_ts") ?? 0;
    const updatedMin = query.readTime("min_updated_ts") ?? 0;
    const isNested = query.readFlag("with_nested_markets");
    const tickers = query.readList("tickers", TICKERS_MAX);
    const { page, cursor } = selectPage(
      tickers === null
        ? catalogue.listEvents()
        : tickers.map((ticker) => catalogue.findEvent(ticker)).filter((event) => event !== null),
      query.readText("cursor"),
      limit,
      (event) =>
        event.closeAt >= closeMin &&
        event.openAt >= updatedMin &&
        (seriesTicker === null || kalshiSeriesTicker(event) === seriesTicker) &&
        (status === null || statusOf(event) === status),
    );
    const events = page.map((event) =>
      isNested ? { ...presentEvent(event), markets: presentMarkets(event) } : presentEvent(event),
    );
    return { events, ...(query.readFlag("with_milestones") ? { milestones: [] } : {}), cursor };
  });

  get("/events/:event", ({ query, path }) => {
    const event = catalogue.findEvent(path("event"));
    if (event === null) throw createNotFoundError();
    const markets = presentMarkets(event);
    if (query.readFlag("with_nested_markets")) return { event: { ...presentEvent(event), markets }, markets };
    return { event: presentEvent(event), markets };
  });
}
