import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { VenueHttpError } from "./http-errors.ts";
import { isGroup, limitlessAddress, limitlessEventSlug, limitlessSlug } from "./ids.ts";

export type CatalogueEntry =
  | { readonly kind: "market"; readonly market: ListedMarket }
  | { readonly kind: "group"; readonly event: ListedEvent };

/** Index of markets and groups by slug and contract address, including delisted ones. */
export class Catalogue {
  readonly #context: ExchangeContext;
  readonly #entryByKey = new Map<string, CatalogueEntry>();
  readonly #indexedEvents = new Set<number>();
  /** The events at the last refresh. The world returns the same array until an event is added or removed. */
  #lastEvents: readonly ListedEvent[] | null = null;

  constructor(context: ExchangeContext) {
    this.#context = context;
  }

  /**
   * Finds a market or group by slug, or by AMM contract address (any case).
   * @throws VenueHttpError 404 if the market or group does not exist
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
    const indexedEntry = this.#entryByKey.get(key);
    if (indexedEntry !== undefined) return indexedEntry;
    this.#refresh();
    return this.#entryByKey.get(key) ?? null;
  }

  #refresh(): void {
    const events = this.#context.world.events("limitless", this.#context.now());
    if (events === this.#lastEvents) return;
    this.#lastEvents = events;
    for (const event of events) {
      if (this.#indexedEvents.has(event.index)) continue;
      this.#indexedEvents.add(event.index);
      if (isGroup(event)) this.#entryByKey.set(limitlessEventSlug(event), { kind: "group", event });
      for (const market of event.markets) {
        const entry: CatalogueEntry = { kind: "market", market };
        this.#entryByKey.set(limitlessSlug(market), entry);
        if (market.mechanism === "amm") this.#entryByKey.set(limitlessAddress(market).toLowerCase(), entry);
      }
    }
  }
}
