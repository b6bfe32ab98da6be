import type { VenueFence } from "./model.ts";

/**
 * The claims that still hold, by venue and by their number in the arrays (from 1). Their leases stay locked until the
 * statement's end: a take-over waits for what is being written, a renewal does not. Whoever waits here for a take-over
 * finds its claim gone.
 *
 * @param venues  the parameter that holds the claims' venues, as `$1`
 * @param fences  the parameter that holds their fences
 */
export function heldFencesSql(venues: string, fences: string): string {
  return `
  select claim.venue, claim.number::int4 as number
  from unnest(${venues}::text[], ${fences}::int8[]) with ordinality as claim (venue, fence, number)
  join leases on leases.name = 'venue:' || claim.venue and leases.fence = claim.fence
  for key share of leases`;
}

/** The two parameters of `heldClaimsSql`. */
export function fenceColumns(claims: readonly VenueFence[]): [string[], number[]] {
  return [claims.map(({ venue }) => venue), claims.map(({ fence }) => fence)];
}
