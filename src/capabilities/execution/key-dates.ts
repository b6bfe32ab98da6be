import type { BoardMarket } from "../../board/index.ts";
import type { KeyDate } from "./model.ts";

/** Returns the next of the close of trading and the expected resolution, or null if neither is known and ahead. */
export function nextListedDate({ listing }: BoardMarket, now: number): KeyDate | null {
  const dates = [
    { label: "Trading closes", at: listing.closeAt },
    { label: "Expected resolution", at: listing.expectedResolutionAt },
  ].flatMap(({ label, at }) => (at !== null && at > now ? [{ label, at }] : []));
  return dates.sort((a, b) => a.at - b.at)[0] ?? null;
}
