/**
 * The only file that names the venue adapters. A venue's public id is configured (`PARALLAX_VENUES`), and the rest of the
 * service refers to venues by that id.
 */
import type { VenueId } from "../domain/market.ts";
import type { SocketIoOut } from "../ports/socket-io-out.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import type { VenuePorts } from "./shared/venue-ports.ts";

/** A configured venue. */
export interface VenueSetting {
  readonly id: VenueId;
  readonly adapter: string;
  /** Included in responses but not accepted in paths or filters. */
  readonly referenceOnly: boolean;
}

type Urls = Readonly<Record<string, string>>;

type AdapterPorts = VenuePorts & { readonly socketIo: SocketIoOut };

interface LoadedAdapter {
  readonly liveUrls: Urls;
  readonly create: (ports: AdapterPorts, urls: (service: string) => string, key: VenueKey | null) => VenueAdapter;
}

interface AdapterEntry {
  /** Services whose URLs the adapter needs; `PARALLAX_<VENUE>_URL` sets the first. */
  readonly services: readonly string[];
  /** Trades in play money, so it may only be configured as a reference venue. */
  readonly playMoney: boolean;
  /** Imports the adapter on demand, because most commands need none. */
  readonly load: () => Promise<LoadedAdapter>;
}

/** API key of the operator's account at a venue. */
export interface VenueKey {
  readonly keyId: string;
  readonly privateKeyPem: string;
}

const ADAPTERS: Readonly<Record<string, AdapterEntry>> = {
  kalshi: {
    services: ["rest", "ws"],
    playMoney: false,
    async load() {
      const { createKalshiVenue, KALSHI_LIVE_URLS } = await import("./kalshi/index.ts");
      return {
        liveUrls: { rest: KALSHI_LIVE_URLS.restUrl, ws: KALSHI_LIVE_URLS.wsUrl },
        create: (ports, url, key) => createKalshiVenue({ ...ports, restUrl: url("rest"), wsUrl: url("ws"), ...key }),
      };
    },
  },
  polymarket: {
    services: ["gamma", "clob", "data", "ws"],
    playMoney: false,
    async load() {
      const { createPolymarketVenue, POLYMARKET_LIVE_URLS } = await import("./polymarket/index.ts");
      return {
        liveUrls: {
          gamma: POLYMARKET_LIVE_URLS.gammaUrl,
          clob: POLYMARKET_LIVE_URLS.clobUrl,
          data: POLYMARKET_LIVE_URLS.dataUrl,
          ws: POLYMARKET_LIVE_URLS.wsUrl,
        },
        create: (ports, url) =>
          createPolymarketVenue({
            ...ports,
            gammaUrl: url("gamma"),
            clobUrl: url("clob"),
            dataUrl: url("data"),
            wsUrl: url("ws"),
          }),
      };
    },
  },
  limitless: {
    services: ["rest", "ws"],
    playMoney: false,
    async load() {
      const { createLimitlessVenue, LIMITLESS_LIVE_URLS } = await import("./limitless/index.ts");
      return {
        liveUrls: { rest: LIMITLESS_LIVE_URLS.restUrl, ws: LIMITLESS_LIVE_URLS.wsUrl },
        create: (ports, url) => createLimitlessVenue({ ...ports, restUrl: url("rest"), wsUrl: url("ws") }),
      };
    },
  },
  manifold: {
    services: ["rest", "ws"],
    playMoney: true,
    async load() {
      const { createManifoldVenue, MANIFOLD_LIVE_URLS } = await import("./manifold/index.ts");
      return {
        liveUrls: { rest: MANIFOLD_LIVE_URLS.restUrl, ws: MANIFOLD_LIVE_URLS.wsUrl },
        create: (ports, url) => createManifoldVenue({ ...ports, restUrl: url("rest"), wsUrl: url("ws") }),
      };
    },
  },
};

/** The services of each adapter whose URLs can be configured. */
export const VENUE_SERVICES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(ADAPTERS).map(([name, entry]) => [name, entry.services]),
);

/** Value of `PARALLAX_VENUES` if it is not set. */
export const DEFAULT_VENUES = "kalshi,polymarket,limitless;manifold";

const VENUE_ID = /^[a-z][a-z0-9_]{0,19}$/;

/**
 * Parses `PARALLAX_VENUES`: adapters separated by commas, `id=adapter` to set another id, reference venues after a semicolon.
 */
export function parseVenues(text: string): { venues: VenueSetting[]; faults: string[] } {
  const faults: string[] = [];
  const venues: VenueSetting[] = [];
  const [trading = "", reference = "", ...more] = text.split(";");
  if (more.length > 0) faults.push("more than one semicolon");
  for (const [part, referenceOnly] of [
    [trading, false],
    [reference, true],
  ] as const) {
    const entries = part
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "");
    for (const entry of entries) {
      const [id = "", adapter = id, ...rest] = entry.split("=");
      if (rest.length > 0 || !VENUE_ID.test(id))
        faults.push(`"${entry}" is not a name of up to 20 characters a-z, 0-9, _ or id=adapter`);
      else if (!Object.hasOwn(ADAPTERS, adapter))
        faults.push(`there is no adapter "${adapter}" (there are ${Object.keys(ADAPTERS).join(", ")})`);
      else if (venues.some((venue) => venue.id === id || venue.adapter === adapter))
        faults.push(`"${entry}" is named twice`);
      else if (ADAPTERS[adapter]?.playMoney === true && !referenceOnly)
        faults.push(`"${entry}" uses play money and belongs after the semicolon`);
      else venues.push({ id, adapter, referenceOnly });
    }
  }
  if (!venues.some((venue) => !venue.referenceOnly)) faults.push("name at least one venue before the semicolon");
  return { venues, faults };
}

/**
 * Creates the adapter of a configured venue.
 * @param urls URLs that replace the live ones, by service
 */
export type CreateVenue = (
  ports: Omit<AdapterPorts, "id" | "playMoney">,
  urls: Urls,
  key: VenueKey | null,
) => VenueAdapter;

/** Loads the adapter of a configured venue. */
export async function loadVenue(setting: VenueSetting): Promise<CreateVenue> {
  const entry = ADAPTERS[setting.adapter];
  if (entry === undefined) throw new Error(`no adapter ${setting.adapter}`);
  const { liveUrls, create } = await entry.load();
  return (ports, urls, key) => {
    const urlOf = (service: string): string => {
      const url = urls[service] ?? liveUrls[service];
      if (url === undefined) throw new Error(`${setting.adapter} has no URL for ${service}`);
      return url;
    };
    return create({ ...ports, id: setting.id, playMoney: entry.playMoney }, urlOf, key);
  };
}
