import type { VenueFence } from "./model.ts";

/**
 * SQL that selects the fences that still match their lease, with venue and position in the arrays (from 1). It locks
 * the leases for the rest of the transaction: a takeover waits for the write, a renewal does not. If a takeover is
 * already under way, the statement waits for it and then finds that the fence no longer matches.
 *
 * @param venues  parameter with the venues of the fences, as `$1`
 * @param fences  parameter with the fence numbers
 */
export function heldFencesSql(venues: string, fences: string): string {
  return `
  select expected.venue, expected.number::int4 as number
  from unnest(${venues}::text[], ${fences}::int8[]) with ordinality as expected (venue, fence, number)
  join leases on leases.name = 'venue:' || expected.venue and leases.fence = expected.fence
  for key share of leases`;
}

/** The two parameters of `heldFencesSql`; none for a statement without fences. */
export function fenceColumns(fences: readonly VenueFence[] | undefined): unknown[] {
  return fences === undefined ? [] : [fences.map(({ venue }) => venue), fences.map(({ fence }) => fence)];
}
