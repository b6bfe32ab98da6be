import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { isGroup, limitlessAddress, limitlessEventSlug, limitlessSlug } from "./ids.ts";

export type Listed =
  | { readonly kind: "market"; readonly market: ListedMarket }
  | { readonly kind: "group"; readonly event: ListedEvent };

/** Finds what a slug or an address names; grows as the world lists new events and forgets nothing it has shown. */
export class Catalogue {
  readonly #context: ExchangeContext;
  readonly #byKey = new Map<string, Listed>();
  readonly #known = new Set<number>();
  /** The world's list as it was at the last look: as long as it is the same one there is nothing new in it. */
  #looked: readonly ListedEvent[] | null = null;

  constructor(context: ExchangeContext) {
    this.#context = context;
  }

  /** Concrete slug, alias slug of a rolling round, or AMM address (any case). */
  find(slugOrAddress: string): Listed | null {
    const key = slugOrAddress.startsWith("0x") ? slugOrAddress.toLowerCase() : slugOrAddress;
    const found = this.#byKey.get(key);
    if (found !== undefined) return found;
    this.#learn();
    return this.#byKey.get(key) ?? this.#currentRound(key);
  }

  findMarket(slugOrAddress: string): ListedMarket | null {
    const listed = this.find(slugOrAddress);
    return listed?.kind === "market" ? listed.market : null;
  }

  #learn(): void {
    const listed = this.#context.world.events("limitless", this.#context.now());
    if (listed === this.#looked) return;
    this.#looked = listed;
    for (const event of listed) {
      if (this.#known.has(event.index)) continue;
      this.#known.add(event.index);
      if (isGroup(event)) this.#byKey.set(limitlessEventSlug(event), { kind: "group", event });
      for (const market of event.markets) {
        const listed: Listed = { kind: "market", market };
        this.#byKey.set(limitlessSlug(market), listed);
        if (market.mechanism === "amm") this.#byKey.set(limitlessAddress(market).toLowerCase(), listed);
      }
    }
  }

  /** "btc-15-min" always means the round that is open now. */
  #currentRound(alias: string): Listed | null {
    if (!alias.endsWith("-15-min")) return null;
    const now = this.#context.now();
    const open = this.#context.world
      .events("limitless", now)
      .filter((event) => event.frequency === "fifteen_min" && roundAlias(event) === alias)
      .flatMap((event) => event.markets)
      .filter((market) => market.openAt <= now && now < market.closeAt)
      .sort((a, b) => a.closeAt - b.closeAt);
    const [market] = open;
    return market === undefined ? null : { kind: "market", market };
  }
}

/** Ticker of the asset a round is about: the series name without its length. */
export function roundSymbol(event: ListedEvent): string {
  return event.series.replace(/15M$/, "");
}

export function roundAlias(event: ListedEvent): string {
  return `${roundSymbol(event).toLowerCase()}-15-min`;
}
