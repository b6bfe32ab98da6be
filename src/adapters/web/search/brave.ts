import type { HttpOut } from "../../../ports/http-out.ts";
import type { WebSearch } from "../../../ports/web-search.ts";
import { parseDate } from "../parse-date.ts";
import { arrayAt, getJson, textAt } from "./get-json.ts";

const BRAVE_URL = "https://api.search.brave.com/res/v1/web/search";
const YEAR_MS = 365 * 24 * 60 * 60 * 1_000;

/** Brave Search with an API key. Source: https://api-dashboard.search.brave.com/app/documentation/web-search */
export function createBraveSearch(http: HttpOut, apiKey: string, baseUrl = BRAVE_URL): WebSearch {
  return {
    name: "brave",
    async search({ query, publishedUntil, hitsMax, signal }) {
      const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
      const parameters = new URLSearchParams({
        q: query,
        count: String(hitsMax),
        freshness: `${day(publishedUntil - YEAR_MS)}to${day(publishedUntil)}`,
      });
      const headers = { accept: "application/json", "x-subscription-token": apiKey };
      const body = await getJson(http, { method: "GET", url: `${baseUrl}?${parameters}`, headers }, signal);
      return arrayAt(body, "web", "results").flatMap((hit) => {
        const url = textAt(hit, "url");
        if (url === null) return [];
        return [{ url, title: textAt(hit, "title") ?? "", publishedAt: parseDate(textAt(hit, "page_age")) }];
      });
    },
  };
}
