import { VenueError } from "../../domain/errors.ts";
import type { IncompleteReason } from "../../ports/venue.ts";
import { idsOf, walkPages } from "../shared/page-walk.ts";
import { limitsFor, VenueClient, type VenueResponse } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import type { Signer } from "./sign.ts";
import type { KalshiDriftDetectors } from "./wire.ts";

/** Where Kalshi itself listens; `https://api.elections.kalshi.com/trade-api/v2` serves the same and is older. */
export const KALSHI_LIVE_URLS = {
  restUrl: "https://external-api.kalshi.com/trade-api/v2",
  wsUrl: "wss://external-api-ws.kalshi.com/trade-api/ws/v2",
} as const;

/** What unsigned callers may ask is not published; the Basic plan allows 20 reads a second. */
const PER_SECOND_WITHOUT_KEY = 8;
const PER_SECOND_WITH_KEY = 16;
const CONCURRENCY = 4;
/** The list of all series is one unpaged answer of about 19 MB. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
const DEADLINE_MS = 30_000;

export type QueryValue = string | number | boolean | undefined;

export interface Page {
  readonly rows: readonly unknown[];
  readonly requestedAt: number;
  readonly receivedAt: number;
  /** On the last page of a sequence that is not whole: why. */
  readonly cut: IncompleteReason | null;
}

/** Where the rows and the cursor of a paged answer are. */
export interface PageShape<Envelope extends { cursor?: string | null }> {
  readonly path: string;
  readonly query: Readonly<Record<string, QueryValue>>;
  readonly isEnvelope: (value: unknown) => value is Envelope;
  readonly rowsOf: (envelope: Envelope) => readonly unknown[];
  /** Field that tells the rows apart. */
  readonly idField: string;
  readonly pagesMax: number;
  /** The pages are read to their end. */
  readonly ahead?: boolean;
}

/** Dependencies of the adapter. */
export type KalshiPorts = VenuePorts & { readonly detectors: KalshiDriftDetectors };

export interface KalshiClientOptions
  extends Pick<VenuePorts, "http" | "clock" | "random" | "drop" | "areLimitsLifted"> {
  readonly restUrl: string;
  readonly signer: Signer | null;
  readonly detectors: KalshiDriftDetectors;
}

/** Bytes to and from Kalshi's REST interface; every request is signed where a key is configured. */
export class KalshiClient {
  readonly #client: VenueClient;
  readonly #restUrl: string;
  readonly #drop: VenuePorts["drop"];
  readonly #detectors: KalshiDriftDetectors;

  constructor(options: KalshiClientOptions) {
    const { http, clock, random, signer, drop } = options;
    const perSecond = signer === null ? PER_SECOND_WITHOUT_KEY : PER_SECOND_WITH_KEY;
    this.#client = new VenueClient({
      http,
      clock,
      random,
      drop,
      limits: limitsFor(options, { perSecond, burst: perSecond, concurrency: CONCURRENCY }),
      deadlineMs: DEADLINE_MS,
      maxBodyBytes: BODY_BYTES_MAX,
      ...(signer === null ? {} : { headers: (method, url) => signer(method, url.pathname, clock.now()) }),
    });
    this.#restUrl = options.restUrl.replace(/\/+$/, "");
    this.#drop = drop;
    this.#detectors = options.detectors;
  }

  /** @param accept statuses besides 2xx that are an answer */
  get(
    path: string,
    query: Readonly<Record<string, QueryValue>>,
    signal: AbortSignal,
    accept: readonly number[] = [],
  ): Promise<VenueResponse> {
    const words = Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
    return this.#client.fetchJson(`${this.#restUrl}${path}${words.length === 0 ? "" : `?${words.join("&")}`}`, {
      signal,
      accept,
    });
  }

  /** Pages until the empty cursor, or until the sequence turns out not to be whole (`cut`, also counted). */
  async *pages<Envelope extends { cursor?: string | null }>(
    shape: PageShape<Envelope>,
    signal: AbortSignal,
  ): AsyncGenerator<Page> {
    const walk = walkPages({
      fetch: async (cursor) => {
        const answer = await this.get(shape.path, { ...shape.query, cursor: cursor ?? undefined }, signal);
        if (!this.#detectors.page.check(answer.json, shape.isEnvelope)) throw unknownShape(shape.path);
        const { requestedAt, receivedAt } = answer;
        return { cursor: answer.json.cursor ?? "", rows: shape.rowsOf(answer.json), requestedAt, receivedAt };
      },
      nextOf: ({ cursor }) => (cursor === "" ? null : cursor),
      idsOf: ({ rows }) => idsOf(rows, shape.idField),
      rowsOf: ({ rows }) => rows.length,
      pagesMax: shape.pagesMax,
      ahead: shape.ahead ?? false,
      drop: this.#drop,
    });
    for await (const { page, cut } of walk) {
      yield { rows: page.rows, requestedAt: page.requestedAt, receivedAt: page.receivedAt, cut };
    }
  }
}

/** The value in its shape, or a `VenueError` (bad_body) naming the path. */
export function expectShape<Shape>(value: unknown, isShape: (value: unknown) => value is Shape, path: string): Shape {
  if (isShape(value)) return value;
  throw unknownShape(path);
}

function unknownShape(path: string): VenueError {
  return new VenueError("bad_body", `${path} answered in an unknown shape`, { retryable: false });
}
