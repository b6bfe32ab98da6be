import { VenueError } from "../../domain/errors.ts";
import { type VenueAnswer, VenueClient } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import type { Signer } from "./sign.ts";

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
}

/** Where the rows and the cursor of a paged answer are. */
export interface PageShape<Envelope extends { cursor?: string | null }> {
  readonly path: string;
  readonly query: Readonly<Record<string, QueryValue>>;
  readonly isEnvelope: (value: unknown) => value is Envelope;
  readonly rowsOf: (envelope: Envelope) => readonly unknown[];
  readonly pagesMax: number;
}

export interface KalshiClientOptions extends Pick<VenuePorts, "http" | "clock" | "random" | "drop"> {
  readonly restUrl: string;
  readonly signer: Signer | null;
}

/** Bytes to and from Kalshi's REST interface; every request is signed where a key is configured. */
export class KalshiClient {
  readonly #client: VenueClient;
  readonly #restUrl: string;
  readonly #drop: VenuePorts["drop"];

  constructor(options: KalshiClientOptions) {
    const { http, clock, random, signer, drop } = options;
    const perSecond = signer === null ? PER_SECOND_WITHOUT_KEY : PER_SECOND_WITH_KEY;
    this.#client = new VenueClient({
      http,
      clock,
      random,
      limits: { perSecond, burst: perSecond, concurrency: CONCURRENCY },
      deadlineMs: DEADLINE_MS,
      maxBodyBytes: BODY_BYTES_MAX,
      ...(signer === null ? {} : { headers: (method, url) => signer(method, url.pathname, clock.now()) }),
    });
    this.#restUrl = options.restUrl.replace(/\/+$/, "");
    this.#drop = drop;
  }

  /** @param accept statuses besides 2xx that are an answer */
  get(
    path: string,
    query: Readonly<Record<string, QueryValue>>,
    signal: AbortSignal,
    accept: readonly number[] = [],
  ): Promise<VenueAnswer> {
    const words = Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
    return this.#client.fetchJson(`${this.#restUrl}${path}${words.length === 0 ? "" : `?${words.join("&")}`}`, {
      signal,
      accept,
    });
  }

  /**
   * Pages until the empty cursor. A page without rows, a cursor seen before and `pagesMax` pages end it too, counted as
   * `page_loop`.
   */
  async *pages<Envelope extends { cursor?: string | null }>(
    shape: PageShape<Envelope>,
    signal: AbortSignal,
  ): AsyncGenerator<Page> {
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < shape.pagesMax; page++) {
      const answer = await this.get(shape.path, { ...shape.query, cursor }, signal);
      const envelope = expectShape(answer.json, shape.isEnvelope, shape.path);
      const rows = shape.rowsOf(envelope);
      yield { rows, requestedAt: answer.requestedAt, receivedAt: answer.receivedAt };
      const next = envelope.cursor ?? "";
      if (next === "") return;
      if (rows.length === 0 || seen.has(next)) break;
      seen.add(next);
      cursor = next;
    }
    this.#drop("page_loop");
  }
}

/** The value in its shape, or a `VenueError` (bad_body) naming the path. */
export function expectShape<Shape>(value: unknown, isShape: (value: unknown) => value is Shape, path: string): Shape {
  if (isShape(value)) return value;
  throw new VenueError("bad_body", `${path} answered in an unknown shape`, { retryable: false });
}
