import { VenueError } from "../../domain/errors.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { type PolymarketContext, urlOf } from "./client.ts";
import { parseResolution, type ResolutionFacts } from "./parse-resolution.ts";
import { isResolution, isResolutionsReply } from "./wire.ts";

/** Maximum conditions per request, set by the venue. */
const CONDITIONS_MAX = 20;

/** Reads resolutions. Payouts determine an outcome; without them the final prices of the listing are used. */
export class ResolutionReader {
  readonly #context: PolymarketContext;

  constructor(context: PolymarketContext) {
    this.#context = context;
  }

  /**
   * Returns resolutions by condition id, without conditions that have none. Failed requests are counted and do not
   * throw.
   */
  async fetchByCondition(
    conditionIds: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ResolutionFacts>> {
    const { ports, urls, clients } = this.#context;
    const resolutions = new Map<string, ResolutionFacts>();
    for (const condition of chunksOf(conditionIds, CONDITIONS_MAX)) {
      try {
        const url = urlOf(urls.dataUrl, "/v2/resolutions", { condition });
        const { json } = await clients.data.fetchJson(url, { signal });
        for (const row of isResolutionsReply(json) ? json.data : []) {
          if (!ports.driftDetectors.resolution.check(row, isResolution)) ports.countDrop("bad_row");
          else resolutions.set(row.condition_id, parseResolution(row, ports.countDrop));
        }
      } catch (error) {
        if (!(error instanceof VenueError) || signal.aborted) throw error;
        ports.countDrop("resolutions_unavailable", condition.length);
      }
    }
    return resolutions;
  }
}
