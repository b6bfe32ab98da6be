/** All venue adapters. `PARALLAX_VENUES` assigns a public id to each venue, used by the rest of the service. */
import type { VenueId } from "../domain/market.ts";
import type { SocketIoOut } from "../ports/socket-io-out.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import type { VenuePorts } from "./shared/venue-ports.ts";

export interface VenueSetting {
  readonly id: VenueId;
  readonly adapter: string;
  /** True if the venue appears only in responses and is not accepted in paths or filters. */
  readonly referenceOnly: boolean;
  /** True if the venue trades in play money. */
  readonly playMoney: boolean;
}

type Urls = Readonly<Record<string, string>>;

type AdapterPorts = VenuePorts & { readonly socketIo: SocketIoOut };

interface AdapterEntry {
  /** Default URLs of the venue, by service. `PARALLAX_<VENUE>_URL` replaces the first one. */
  readonly liveUrls: Urls;
  /** True if the venue trades in play money. It may then only be configured as a reference venue. */
  readonly playMoney: boolean;
  /** Kinds of membership, which have different fees. The first one is the default of `PARALLAX_<VENUE>_MEMBER`. */
  readonly members?: readonly string[];
  /** Imports the adapter on demand, because most commands do not need it. */
  readonly load: () => Promise<
    (ports: AdapterPorts, urlOf: (service: string) => string, account: VenueAccount) => VenueAdapter
  >;
}

/** API key of the operator's account at a venue. */
export interface VenueKey {
  readonly keyId: string;
  readonly privateKeyPem: string;
}

/** The operator's account at a venue. */
export interface VenueAccount {
  readonly key: VenueKey | null;
  /** Kind of membership; null for the venue's default. */
  readonly member: string | null;
}

const ADAPTERS: Readonly<Record<string, AdapterEntry>> = {
  kalshi: {
    // The older `https://api.elections.kalshi.com/trade-api/v2` serves the same API.
    liveUrls: {
      rest: "https://external-api.kalshi.com/trade-api/v2",
      ws: "wss://external-api-ws.kalshi.com/trade-api/ws/v2",
    },
    playMoney: false,
    members: ["other", "direct"],
    async load() {
      const { createKalshiVenue } = await import("./kalshi/index.ts");
      return (ports, urlOf, { key, member }) =>
        createKalshiVenue({
          ...ports,
          ...key,
          restUrl: urlOf("rest"),
          wsUrl: urlOf("ws"),
          member: member ?? undefined,
        });
    },
  },
  polymarket: {
    liveUrls: {
      gamma: "https://gamma-api.polymarket.com",
      clob: "https://clob.polymarket.com",
      data: "https://data-api.polymarket.com",
      ws: "wss://ws-subscriptions-clob.polymarket.com/ws/market",
    },
    playMoney: false,
    async load() {
      const { createPolymarketVenue } = await import("./polymarket/index.ts");
      return (ports, urlOf) =>
        createPolymarketVenue({
          ...ports,
          gammaUrl: urlOf("gamma"),
          clobUrl: urlOf("clob"),
          dataUrl: urlOf("data"),
          wsUrl: urlOf("ws"),
        });
    },
  },
  limitless: {
    liveUrls: { rest: "https://api.limitless.exchange", ws: "wss://ws.limitless.exchange" },
    playMoney: false,
    async load() {
      const { createLimitlessVenue } = await import("./limitless/index.ts");
      return (ports, urlOf) => createLimitlessVenue({ ...ports, restUrl: urlOf("rest"), wsUrl: urlOf("ws") });
    },
  },
  manifold: {
    liveUrls: { rest: "https://api.manifold.markets/v0", ws: "wss://api.manifold.markets/ws" },
    playMoney: true,
    async load() {
      const { createManifoldVenue } = await import("./manifold/index.ts");
      return (ports, urlOf) => createManifoldVenue({ ...ports, restUrl: urlOf("rest"), wsUrl: urlOf("ws") });
    },
  },
};

/** The services of each adapter whose URLs can be configured. */
export const VENUE_SERVICES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(ADAPTERS).map(([name, { liveUrls }]) => [name, Object.keys(liveUrls)]),
);

/** The kinds of membership by adapter, for adapters with several kinds. The first one is the default. */
export const VENUE_MEMBERS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(ADAPTERS).flatMap(([name, { members }]) => (members === undefined ? [] : [[name, members]])),
);

/** Value of `PARALLAX_VENUES` if it is not set. */
export const DEFAULT_VENUES = "kalshi,polymarket,limitless;manifold";

const VENUE_ID_PATTERN = /^[a-z][a-z0-9_]{0,19}$/;

/**
 * Parses `PARALLAX_VENUES`: adapters separated by commas, `id=adapter` to set another id, reference venues after a
 * semicolon.
 */
export function parseVenues(text: string): { venues: VenueSetting[]; faults: string[] } {
  const faults: string[] = [];
  const venues: VenueSetting[] = [];
  const [trading = "", reference = "", ...extraParts] = text.split(";");
  if (extraParts.length > 0) faults.push("more than one semicolon");
  for (const [part, referenceOnly] of [
    [trading, false],
    [reference, true],
  ] as const) {
    const entries = part
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "");
    for (const entry of entries) {
      const [id = "", adapter = id, ...extraValues] = entry.split("=");
      if (extraValues.length > 0 || !VENUE_ID_PATTERN.test(id))
        faults.push(`"${entry}" is not a name of up to 20 characters a-z, 0-9, _ or id=adapter`);
      else if (!Object.hasOwn(ADAPTERS, adapter))
        faults.push(`there is no adapter "${adapter}" (there are ${Object.keys(ADAPTERS).join(", ")})`);
      else if (venues.some((venue) => venue.id === id || venue.adapter === adapter))
        faults.push(`"${entry}" is named twice`);
      else {
        const playMoney = ADAPTERS[adapter]?.playMoney === true;
        if (playMoney && !referenceOnly) faults.push(`"${entry}" uses play money and belongs after the semicolon`);
        else venues.push({ id, adapter, referenceOnly, playMoney });
      }
    }
  }
  if (!venues.some((venue) => !venue.referenceOnly)) faults.push("name at least one venue before the semicolon");
  return { venues, faults };
}

/** Loads the adapter of a configured venue. Its `urls` replace the live ones, by service. */
export async function loadVenue(setting: Pick<VenueSetting, "id" | "adapter">) {
  const entry = ADAPTERS[setting.adapter];
  if (entry === undefined) throw new Error(`no adapter ${setting.adapter}`);
  const createAdapter = await entry.load();
  return (ports: Omit<AdapterPorts, "id" | "playMoney">, urls: Urls, account: VenueAccount): VenueAdapter => {
    const urlOf = (service: string): string => {
      const url = urls[service] ?? entry.liveUrls[service];
      if (url === undefined) throw new Error(`${setting.adapter} has no URL for ${service}`);
      return url;
    };
    return createAdapter({ ...ports, id: setting.id, playMoney: entry.playMoney }, urlOf, account);
  };
}
