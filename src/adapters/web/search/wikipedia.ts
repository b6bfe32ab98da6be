import type { Clock } from "../../../ports/clock.ts";
import type { HttpOut } from "../../../ports/http-out.ts";
import type { WebSearch } from "../../../ports/web-search.ts";
import { arrayAt, getJson, textAt } from "./get-json.ts";

const WIKIPEDIA_URL = "https://en.wikipedia.org";
const HITS_MAX = 3;
/** Maximum age of `publishedUntil`. Articles are current versions, so they must not be used for an earlier time. */
const PRESENT_MS = 24 * 60 * 60 * 1_000;

/** Search of the English Wikipedia, without a key. Source: https://www.mediawiki.org/wiki/API:Search */
export function createWikipediaSearch(http: HttpOut, clock: Pick<Clock, "now">, baseUrl = WIKIPEDIA_URL): WebSearch {
  return {
    name: "wikipedia",
    async search({ query, publishedUntil, hitsMax, signal }) {
      if (clock.now() - publishedUntil > PRESENT_MS) return [];
      const parameters = new URLSearchParams({
        action: "query",
        list: "search",
        format: "json",
        srsearch: query,
        srlimit: String(Math.min(hitsMax, HITS_MAX)),
      });
      const body = await getJson(http, { method: "GET", url: `${baseUrl}/w/api.php?${parameters}` }, signal);
      return arrayAt(body, "query", "search").flatMap((hit) => {
        const title = textAt(hit, "title");
        if (title === null) return [];
        const path = encodeURIComponent(title.replaceAll(" ", "_"));
        return [{ url: `${baseUrl}/wiki/${path}`, title, publishedAt: null }];
      });
    },
  };
}
