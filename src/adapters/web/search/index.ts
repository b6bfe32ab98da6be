import type { Clock } from "../../../ports/clock.ts";
import type { HttpOut } from "../../../ports/http-out.ts";
import type { WebSearch } from "../../../ports/web-search.ts";
import { createBraveSearch } from "./brave.ts";
import { createGdeltSearch } from "./gdelt.ts";
import { createWikipediaSearch } from "./wikipedia.ts";

export type SearchEngineName = "gdelt" | "wikipedia" | "brave";

/** @throws Error if `brave` is requested without a key */
export function createSearchEngines(
  names: readonly SearchEngineName[],
  options: {
    readonly apiKey: string | null;
    readonly http: HttpOut;
    readonly clock: Pick<Clock, "now" | "monotonic" | "sleep">;
  },
): WebSearch[] {
  const { apiKey, http, clock } = options;
  return names.map((name) => {
    if (name === "gdelt") return createGdeltSearch(http, clock);
    if (name === "wikipedia") return createWikipediaSearch(http, clock);
    if (apiKey === null) throw new Error("Brave Search requires a key.");
    return createBraveSearch(http, apiKey);
  });
}
