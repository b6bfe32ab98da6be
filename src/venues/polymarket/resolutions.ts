import { VenueError } from "../../domain/errors.ts";
import { urlOf } from "./client.ts";
import type { PolymarketContext } from "./context.ts";
import { parseResolution, type ResolutionFacts } from "./parse-resolution.ts";
import { isResolution, isResolutionsReply } from "./wire.ts";

/** Conditions of one request, as the venue bounds it. */
const CONDITIONS_MAX = 20;

export interface ResolutionReader {
  /** What the oracle says, by condition id; those it does not know are missing. */
  fetchByCondition(conditionIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, ResolutionFacts>>;
}

/** Payouts are the final word on an outcome. Where they cannot be read, the listing's own final prices must do. */
export function createResolutionReader({ ports, urls, clients }: PolymarketContext): ResolutionReader {
  return {
    async fetchByCondition(conditionIds, signal) {
      const facts = new Map<string, ResolutionFacts>();
      for (let start = 0; start < conditionIds.length; start += CONDITIONS_MAX) {
        const condition = conditionIds.slice(start, start + CONDITIONS_MAX);
        try {
          const { json } = await clients.data.fetchJson(urlOf(urls.dataUrl, "/v2/resolutions", { condition }), {
            signal,
          });
          for (const row of isResolutionsReply(json) ? json.data : []) {
            if (ports.detectors.resolution.check(row, isResolution))
              facts.set(row.condition_id, parseResolution(row, ports.drop));
            else ports.drop("bad_row");
          }
        } catch (error) {
          if (!(error instanceof VenueError) || signal.aborted) throw error;
          ports.drop("resolutions_unavailable", condition.length);
        }
      }
      return facts;
    },
  };
}
