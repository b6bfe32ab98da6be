import type { ListedEvent } from "../../world/types.ts";
import { categoryOf, seriesJson } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { count } from "./market-json.ts";
import { notFound } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

export function installSeries(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  /** The first listed event of each series; a series has the properties of its first event. */
  const firstEvents = (): ListedEvent[] => {
    const bySeries = new Map<string, ListedEvent>();
    for (const event of catalogue.events()) {
      const ticker = kalshiSeriesTicker(event);
      if (!bySeries.has(ticker)) bySeries.set(ticker, event);
    }
    return [...bySeries.values()];
  };
  const present = (event: ListedEvent, includeVolume: boolean) => {
    if (!includeVolume) return seriesJson(event);
    const markets = catalogue.eventsOfSeries(kalshiSeriesTicker(event)).flatMap((sibling) => sibling.markets);
    const volume = markets.reduce((sum, market) => sum + (world.activity(market, now()).volumeContracts ?? 0), 0);
    return { ...seriesJson(event), volume_fp: count(volume) };
  };

  // The venue does not page this list.
  get("/series", ({ query }) => {
    const category = query.text("category");
    const tags = query.list("tags", 20);
    const updatedMin = query.time("min_updated_ts") ?? 0;
    const includeVolume = query.flag("include_volume");
    const found = firstEvents().filter(
      (event) =>
        (category === null || categoryOf(event) === category) &&
        (tags === null || tags.some((tag) => event.tags.includes(tag))) &&
        event.openAt >= updatedMin,
    );
    return { series: found.map((event) => present(event, includeVolume)) };
  });

  get("/series/:series", ({ query, path }) => {
    const [event] = catalogue.eventsOfSeries(path("series"));
    if (event === undefined) throw notFound();
    return { series: present(event, query.flag("include_volume")) };
  });
}
