import { columnsOf } from "../lib/columns-of.ts";
import type { VenueFence } from "./model.ts";

/**
 * Returns SQL that selects the fences that still match their lease: `venue` and `number`, the index in the arrays from
 * 1. The SQL locks the leases for the rest of the transaction: a takeover waits for the write, a renewal does not. If a
 * takeover has started, the SQL waits for it and then does not select the outdated fence.
 *
 * @param venues  SQL parameter that contains the venues of the fences, such as `$1`
 * @param fences  SQL parameter that contains the fence numbers, such as `$2`
 */
export function heldFencesSql(venues: string, fences: string): string {
  return `
  select expected.venue, expected.number::int4 as number
  from unnest(${venues}::text[], ${fences}::int8[]) with ordinality as expected (venue, fence, number)
  join leases on leases.name = 'venue:' || expected.venue and leases.fence = expected.fence
  for key share of leases`;
}

/** Returns the two parameters of `heldFencesSql`, or an empty array if the statement has no fences. */
export function fenceParameters(fences: readonly VenueFence[] | undefined): unknown[] {
  return fences === undefined ? [] : columnsOf(fences, "venue", "fence");
}
