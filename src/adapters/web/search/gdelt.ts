import { DAY_MS } from "../../../lib/durations.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { HttpOut } from "../../../ports/http-out.ts";
import type { WebSearch } from "../../../ports/web-search.ts";
import { parseDate } from "../parse-date.ts";
import { arrayAt, getJson, textAt } from "./get-json.ts";

const GDELT_URL = "https://api.gdeltproject.org/api/v2/doc/doc";
/** Maximum number of days that the index covers. */
const DAYS = 90;
/** Minimum interval between two requests. The service accepts one request per 5 s. */
const INTERVAL_MS = 5_100;
const WAIT_MS_MAX = 30_000;

/**
 * News search of the GDELT project: articles of the last three months, without a key.
 * Source: https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/
 */
export function createGdeltSearch(
  http: HttpOut,
  clock: Pick<Clock, "monotonic" | "sleep">,
  baseUrl = GDELT_URL,
): WebSearch {
  let nextAt = 0;
  /** Waits until the service accepts the next request. Requests of all runs wait in one queue. */
  const waitForTurn = async (signal: AbortSignal): Promise<void> => {
    const now = clock.monotonic();
    const startAt = Math.max(now, nextAt);
    if (startAt - now > WAIT_MS_MAX) throw new Error("Too many searches are waiting.");
    nextAt = startAt + INTERVAL_MS;
    if (startAt > now) await clock.sleep(startAt - now, signal);
  };
  return {
    name: "gdelt",
    async search({ query, publishedUntil, hitsMax, signal }) {
      // Only words, because punctuation could be an operator of the query language.
      const words = query.match(/[\p{L}\p{N}]{2,}/gu) ?? [];
      const parameters = new URLSearchParams({
        query: `${words.slice(0, 8).join(" ")} sourcelang:english`,
        mode: "artlist",
        format: "json",
        sort: "hybridrel",
        maxrecords: String(hitsMax),
        startdatetime: compactTime(publishedUntil - DAYS * DAY_MS),
        enddatetime: compactTime(publishedUntil),
      });
      await waitForTurn(signal);
      const body = await getJson(http, { method: "GET", url: `${baseUrl}?${parameters}` }, signal);
      return arrayAt(body, "articles").flatMap((article) => {
        const url = textAt(article, "url");
        if (url === null) return [];
        const seenAt = textAt(article, "seendate")?.replace(
          /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
          "$1-$2-$3T$4:$5:$6Z",
        );
        return [{ url, title: textAt(article, "title") ?? "", publishedAt: parseDate(seenAt) }];
      });
    },
  };
}

/** @example compactTime(0); // "19700101000000" */
const compactTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace(/\D/g, "");
