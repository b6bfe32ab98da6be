/** Price kind and taker fee of each venue. The data files do not contain them. */
import type { TakerFee } from "../../src/domain/market.ts";
import type { PriceKind } from "../../src/engine/index.ts";
import venues from "./venues.json" with { type: "json" };

interface Venue {
  readonly kind: PriceKind;
  readonly fee: TakerFee | null;
}

const UNKNOWN: Venue = { kind: "money", fee: null };
const VENUES = new Map(Object.entries(venues as Readonly<Record<string, Venue>>));

export const venueOf = (name: string): Venue => VENUES.get(name) ?? UNKNOWN;
