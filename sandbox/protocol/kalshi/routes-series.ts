import type { ListedEvent } from "../../world/types.ts";
import { kalshiCategory, presentSeries } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { formatContracts } from "./market-json.ts";
import { createNotFoundError } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

export function installSeries(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  /** Returns the first listed event of each series, which determines the properties of the series. */
  const firstEvents = (): ListedEvent[] => {
    const bySeries = new Map<string, ListedEvent>();
    for (const event of catalogue.listEvents()) {
      const ticker = kalshiSeriesTicker(event);
      if (!bySeries.has(ticker)) bySeries.set(ticker, event);
    }
    return [...bySeries.values()];
  };
  const present = (event: ListedEvent, includeVolume: boolean) => {
    if (!includeVolume) return presentSeries(event);
    const markets = catalogue.findEventsOfSeries(kalshiSeriesTicker(event)).flatMap((sibling) => sibling.markets);
    const volume = markets.reduce((sum, market) => sum + (world.activity(market, now()).volumeContracts ?? 0), 0);
    return { ...presentSeries(event), volume_fp: formatContracts(volume) };
  };

  // The venue returns this list without pagination.
  get("/series", ({ query }) => {
    const category = query.readText("category");
    const tags = query.readList("tags", 20);
    const updatedMin = query.readTime("min_updated_ts") ?? 0;
    const includeVolume = query.readFlag("include_volume");
    const found = firstEvents().filter(
      (event) =>
        (category === null || kalshiCategory(event) === category) &&
        (tags === null || tags.some((tag) => event.tags.includes(tag))) &&
        event.openAt >= updatedMin,
    );
    return { series: found.map((event) => present(event, includeVolume)) };
  });

  get("/series/:series", ({ query, path }) => {
    const [event] = catalogue.findEventsOfSeries(path("series"));
    if (event === undefined) throw createNotFoundError();
    return { series: present(event, query.readFlag("include_volume")) };
  });
}
