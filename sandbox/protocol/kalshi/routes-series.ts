import type { ListedEvent } from "../../world/types.ts";
import { categoryOf, seriesJson } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { count } from "./market-json.ts";
import { notFound } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

export function installSeries(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  /** One event speaks for its series: the first listed. */
  const allSeries = (): ListedEvent[] => {
    const first = new Map<string, ListedEvent>();
    for (const event of catalogue.events()) {
      const ticker = kalshiSeriesTicker(event);
      if (!first.has(ticker)) first.set(ticker, event);
    }
    return [...first.values()];
  };
  const present = (event: ListedEvent, isVolumeWanted: boolean) => {
    if (!isVolumeWanted) return seriesJson(event);
    const markets = catalogue.eventsOfSeries(kalshiSeriesTicker(event)).flatMap((one) => one.markets);
    const volume = markets.reduce((sum, market) => sum + (world.activity(market, now()).volumeContracts ?? 0), 0);
    return { ...seriesJson(event), volume_fp: count(volume) };
  };

  /** The whole list at once: the venue does not page it. */
  get("/series", ({ query }) => {
    const category = query.text("category");
    const tags = query.list("tags", 20);
    const updatedMin = query.time("min_updated_ts") ?? 0;
    const isVolumeWanted = query.flag("include_volume");
    const found = allSeries().filter(
      (event) =>
        (category === null || categoryOf(event) === category) &&
        (tags === null || tags.some((tag) => event.tags.includes(tag))) &&
        event.openAt >= updatedMin,
    );
    return { series: found.map((event) => present(event, isVolumeWanted)) };
  });

  get("/series/fee_changes", () => ({ series_fee_change_arr: [] }));

  get("/series/:series", ({ query, path }) => {
    const [event] = catalogue.eventsOfSeries(path("series"));
    if (event === undefined) throw notFound();
    return { series: present(event, query.flag("include_volume")) };
  });

  get("/search/tags_by_categories", () => {
    const tags = new Map<string, Set<string>>();
    for (const event of allSeries()) {
      const category = categoryOf(event);
      tags.set(category, new Set([...(tags.get(category) ?? []), ...event.tags]));
    }
    return { tags_by_categories: Object.fromEntries([...tags].map(([category, names]) => [category, [...names]])) };
  });
}
