import { VenueError } from "../../domain/errors.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { type PolymarketContext, toDataApiConditionId } from "./client.ts";
import { type ParsedResolution, parseResolution } from "./parse-resolution.ts";
import { isResolution, isResolutionsReply } from "./wire.ts";

/** Maximum conditions per request, set by the venue. */
const CONDITIONS_MAX = 20;

const UNAVAILABLE: ParsedResolution = { state: "unavailable", outcome: null, resolvedAt: null };

/**
 * Returns resolutions by condition id. The outcome comes from the payouts; without payouts, from the final prices in
 * the listing. Conditions that the venue does not return are absent and counted as `missing`. Failed requests are
 * counted and do not throw; their conditions are `unavailable`.
 */
export async function fetchResolutions(
  context: PolymarketContext,
  conditionIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ParsedResolution>> {
  const { countDrop } = context;
  const resolutions = new Map<string, ParsedResolution>();
  const requestedIds = Map.groupBy(conditionIds, toDataApiConditionId);
  for (const invalid of requestedIds.get(null) ?? []) {
    countDrop("bad_condition_id");
    resolutions.set(invalid, UNAVAILABLE);
  }
  requestedIds.delete(null);
  for (const ids of chunksOf(
    [...requestedIds.keys()].filter((id) => id !== null),
    CONDITIONS_MAX,
  )) {
    const found = await fetchBatch(context, ids, signal);
    for (const id of ids) {
      const resolution = found === null ? UNAVAILABLE : found.get(id);
      if (resolution === undefined) countDrop("missing");
      else for (const conditionId of requestedIds.get(id) ?? []) resolutions.set(conditionId, resolution);
    }
  }
  return resolutions;
}

/** @returns the rows by padded id; null if the request failed, which is counted */
async function fetchBatch(
  { data, driftDetectors, countDrop }: PolymarketContext,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, ParsedResolution> | null> {
  try {
    const { json } = await data.fetchJson("/v2/resolutions", { query: { condition: ids.join(",") }, signal });
    const found = new Map<string, ParsedResolution>();
    const rows = isResolutionsReply(json) ? json.data : [];
    for (const row of driftDetectors.resolution.filter(rows, isResolution, () => countDrop("bad_row"))) {
      const id = toDataApiConditionId(row.condition_id);
      if (id === null) countDrop("bad_row");
      else found.set(id, parseResolution(row, countDrop));
    }
    return found;
  } catch (error) {
    if (!(error instanceof VenueError) || signal.aborted) throw error;
    countDrop("resolutions_unavailable", ids.length);
    return null;
  }
}
