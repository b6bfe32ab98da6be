import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { VenueHttpError } from "./http-errors.ts";
import { isGroup, limitlessAddress, limitlessEventSlug, limitlessSlug } from "./ids.ts";

export type CatalogueEntry =
  | { readonly kind: "market"; readonly market: ListedMarket }
  | { readonly kind: "group"; readonly event: ListedEvent };

/** Index of markets and groups by slug and address. Entries stay after the world delists them. */
export class Catalogue {
  readonly #context: ExchangeContext;
  readonly #byKey = new Map<string, CatalogueEntry>();
  readonly #indexedEvents = new Set<number>();
  /** The event list at the last refresh. The world returns the same array until its content changes. */
  #lastEvents: readonly ListedEvent[] | null = null;

  constructor(context: ExchangeContext) {
    this.#context = context;
  }

  /**
   * Looks up a market slug, the alias slug of a rolling round, or an AMM address (case-insensitive).
   * @throws VenueHttpError 404 when there is no such market or group
   */
  get(slugOrAddress: string): CatalogueEntry {
    const entry = this.#find(slugOrAddress);
    if (entry === null) throw new VenueHttpError(404, `Market ${slugOrAddress} not found`);
    return entry;
  }

  findMarket(slugOrAddress: string): ListedMarket | null {
    const entry = this.#find(slugOrAddress);
    return entry?.kind === "market" ? entry.market : null;
  }

  #find(slugOrAddress: string): CatalogueEntry | null {
    const key = slugOrAddress.startsWith("0x") ? slugOrAddress.toLowerCase() : slugOrAddress;
    const found = this.#byKey.get(key);
    if (found !== undefined) return found;
    this.#refresh();
    return this.#byKey.get(key) ?? this.#findOpenRound(key);
  }

  #refresh(): void {
    const events = this.#context.world.events("limitless", this.#context.now());
    if (events === this.#lastEvents) return;
    this.#lastEvents = events;
    for (const event of events) {
      if (this.#indexedEvents.has(event.index)) continue;
      this.#indexedEvents.add(event.index);
      if (isGroup(event)) this.#byKey.set(limitlessEventSlug(event), { kind: "group", event });
      for (const market of event.markets) {
        const entry: CatalogueEntry = { kind: "market", market };
        this.#byKey.set(limitlessSlug(market), entry);
        if (market.mechanism === "amm") this.#byKey.set(limitlessAddress(market).toLowerCase(), entry);
      }
    }
  }

  /** Resolves an alias such as "btc-15-min" to the round that is open now. */
  #findOpenRound(alias: string): CatalogueEntry | null {
    if (!alias.endsWith("-15-min")) return null;
    const now = this.#context.now();
    const [market] = this.#context.world
      .events("limitless", now)
      .filter((event) => event.frequency === "fifteen_min" && roundAlias(event) === alias)
      .flatMap((event) => event.markets)
      .filter((market) => market.openAt <= now && now < market.closeAt)
      .sort((a, b) => a.closeAt - b.closeAt);
    return market === undefined ? null : { kind: "market", market };
  }
}

/** Ticker of the asset behind a round: the series name without its length. */
export function roundSymbol(event: ListedEvent): string {
  return event.series.replace(/15M$/, "");
}

export function roundAlias(event: ListedEvent): string {
  return `${roundSymbol(event).toLowerCase()}-15-min`;
}
