/** Which data a recording contains, by the venue and the endpoint or channel that its index entry names. */

/** `markets` includes events with their markets and single markets. */
export type EndpointKind = "markets" | "series" | "book" | "history" | "trades" | "resolutions" | "stream";

export interface Endpoint {
  readonly kind: EndpointKind;
  /** Path without host, version and query, for example "/markets/{}/orderbook"; empty for a stream. */
  readonly path: string;
  readonly query: URLSearchParams;
}

type Pattern = readonly [path: RegExp, kind: EndpointKind];

/** The endpoints whose data the adapters read. `{}` stands for any segment. */
const PATTERNS: Readonly<Record<string, readonly Pattern[]>> = {
  kalshi: [
    [/^(\/historical)?\/markets\/trades$/, "trades"],
    [/\/candlesticks$/, "history"],
    [/^\/markets\/(orderbooks|[^/]+\/orderbook)$/, "book"],
    [/^\/series(\/(?!fee_changes)[^/]+)?$/, "series"],
    [/^\/events(\/(?!fee_changes)[^/]+)?$/, "markets"],
    [/^(\/historical)?\/markets(\/[^/]+)?$/, "markets"],
  ],
  polymarket: [
    [/^(\/v2)?\/trades$/, "trades"],
    [/^\/books?$/, "book"],
    [/^(\/v2)?\/prices-history$/, "history"],
    [/^\/v2\/resolutions$/, "resolutions"],
    [/^\/(public-search|(events|markets)(\/keyset|\/slug\/[^/]+|\/[^/]+)?)$/, "markets"],
  ],
  limitless: [
    [/^\/markets\/[^/]+\/orderbook$/, "book"],
    [/^\/markets\/[^/]+\/(events|get-feed-events)$/, "trades"],
    [/^\/markets\/[^/]+\/historical-price$/, "history"],
    [/^\/markets\/(active(\/(?!slugs)[^/]+)?|search)$/, "markets"],
    [/^\/markets\/(?!active|search|timeline|categories)[^/]+$/, "markets"],
  ],
  manifold: [
    [/^\/bets$/, "trades"],
    [/^\/bet-points$/, "history"],
    [/^\/(markets|search-markets|market\/[^/]+|slug\/[^/]+)$/, "markets"],
  ],
};

export const KNOWN_VENUES: readonly string[] = Object.keys(PATTERNS);

const STREAM_PATTERN = /^(wss?:\/\/|wss?\b|websocket\b|socket\.?io\b)/i;
const HOST_AND_VERSION_PATTERN = /^(https?:\/\/[^/]+)?(\/trade-api\/v2|\/v0)?/;

/**
 * Reads text such as `GET /markets/{ticker}/orderbook`, `GET /events?slug=`, `WS ticker` or `Socket.IO /markets`.
 * Remarks and further endpoints after the first are ignored. Returns null if no adapter reads the endpoint.
 */
export function parseEndpoint(venue: string, channel: string): Endpoint | null {
  const text = channel.trim().replaceAll(/\{[^}]*\}/g, "{}");
  if (STREAM_PATTERN.test(text)) return { kind: "stream", path: "", query: new URLSearchParams() };
  const address = /(?:^|\s)(?:GET|POST)\s+(\S+)/i.exec(text)?.[1] ?? /^(\/\S+|https?:\/\/\S+)/.exec(text)?.[1];
  if (address === undefined) return null;
  const [location = "", search = ""] = address.replace(/[,;]$/, "").split("?");
  const path = location.replace(HOST_AND_VERSION_PATTERN, "").replace(/\/+$/, "");
  const pattern = PATTERNS[venue]?.find(([regExp]) => regExp.test(path));
  return pattern === undefined ? null : { kind: pattern[1], path, query: new URLSearchParams(search) };
}
