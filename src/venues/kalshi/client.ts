import { VenueError } from "../../domain/errors.ts";
import type { FeeRounding } from "../../domain/market.ts";
import type { IncompleteReason } from "../../ports/venue.ts";
import { walkPages } from "../shared/page-walk.ts";
import { limitsFor, type RequestLimits, VenueClient, type VenueResponse } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import type { Signer } from "./sign.ts";
import type { KalshiDriftDetectors } from "./wire.ts";

/** Kalshi does not publish the limit for unsigned requests. */
const REQUESTS_PER_SECOND_WITHOUT_KEY = 8;
const REQUESTS_PER_SECOND_WITH_KEY = 16;
const CONCURRENCY = 4;
/** Maximum response size. The list of all series is one response of about 19 MB. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;
const DEADLINE_MS = 30_000;

export type QueryValue = string | number | boolean | undefined;

export interface Page {
  readonly rows: readonly unknown[];
  readonly requestedAt: number;
  readonly receivedAt: number;
  /** Why the listing is incomplete; set on the last page of an incomplete listing, otherwise null. */
  readonly incompleteReason: IncompleteReason | null;
}

export interface PageRequest<Envelope extends { cursor?: string | null }> {
  readonly path: string;
  readonly query: Readonly<Record<string, QueryValue>>;
  readonly isEnvelope: (value: unknown) => value is Envelope;
  readonly rowsOf: (envelope: Envelope) => readonly unknown[];
  /** Field that identifies a row. */
  readonly idField: string;
  readonly pagesMax: number;
  /** Requests the next page while the caller processes the current one. */
  readonly prefetch?: boolean;
}

export type KalshiPorts = VenuePorts & {
  readonly driftDetectors: KalshiDriftDetectors;
  readonly feeRounding: FeeRounding;
};

export interface KalshiClientOptions
  extends Pick<KalshiPorts, "http" | "clock" | "random" | "countDrop" | "areLimitsLifted" | "driftDetectors"> {
  readonly restUrl: string;
  readonly signer: Signer | null;
}

/** Request limits with or without a key. */
export function limitsOf(
  options: Pick<VenuePorts, "areLimitsLifted"> & { readonly signer: Signer | null },
): RequestLimits {
  const perSecond = options.signer === null ? REQUESTS_PER_SECOND_WITHOUT_KEY : REQUESTS_PER_SECOND_WITH_KEY;
  return limitsFor(options, { perSecond, burst: perSecond, concurrency: CONCURRENCY });
}

/** Client of Kalshi's REST API. Signs every request if a key is configured. */
export class KalshiClient {
  readonly #client: VenueClient;
  readonly #restUrl: string;
  readonly #countDrop: VenuePorts["countDrop"];
  readonly #driftDetectors: KalshiDriftDetectors;

  constructor(options: KalshiClientOptions) {
    const { http, clock, random, signer, countDrop } = options;
    this.#client = new VenueClient({
      http,
      clock,
      random,
      countDrop,
      limits: limitsOf(options),
      deadlineMs: DEADLINE_MS,
      maxBodyBytes: BODY_BYTES_MAX,
      headers: signer === null ? undefined : (method, url) => signer(method, url.pathname, clock.now()),
    });
    this.#restUrl = options.restUrl.replace(/\/+$/, "");
    this.#countDrop = countDrop;
    this.#driftDetectors = options.driftDetectors;
  }

  /**
   * @param accept statuses besides 2xx that are returned and not thrown
   * @param maxBodyBytes limit of the response body
   */
  get(
    path: string,
    query: Readonly<Record<string, QueryValue>>,
    signal: AbortSignal,
    accept: readonly number[] = [],
    maxBodyBytes = BODY_BYTES_MAX,
  ): Promise<VenueResponse> {
    const parameters = Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
    const search = parameters.length === 0 ? "" : `?${parameters.join("&")}`;
    return this.#client.fetchJson(`${this.#restUrl}${path}${search}`, { signal, accept, maxBodyBytes });
  }

  /** Yields pages until the cursor is empty or the listing is found to be incomplete, which is counted. */
  async *pages<Envelope extends { cursor?: string | null }>(
    request: PageRequest<Envelope>,
    signal: AbortSignal,
  ): AsyncGenerator<Page> {
    const walk = walkPages({
      fetch: async (cursor) => {
        const response = await this.get(request.path, { ...request.query, cursor: cursor ?? undefined }, signal);
        const { json, requestedAt, receivedAt } = response;
        if (!this.#driftDetectors.page.check(json, request.isEnvelope)) throw createUnknownShapeError(request.path);
        return { cursor: json.cursor ?? "", rows: request.rowsOf(json), requestedAt, receivedAt };
      },
      nextOf: ({ cursor }) => (cursor === "" ? null : cursor),
      idField: request.idField,
      pagesMax: request.pagesMax,
      prefetch: request.prefetch,
      countDrop: this.#countDrop,
    });
    for await (const { page, incompleteReason } of walk) {
      yield { rows: page.rows, requestedAt: page.requestedAt, receivedAt: page.receivedAt, incompleteReason };
    }
  }
}

/** Returns the value if it has the shape. @throws VenueError (bad_body) that names the path */
export function expectShape<Shape>(value: unknown, isShape: (value: unknown) => value is Shape, path: string): Shape {
  if (isShape(value)) return value;
  throw createUnknownShapeError(path);
}

function createUnknownShapeError(path: string): VenueError {
  return new VenueError("bad_body", `${path} returned a body of unknown shape`, { retryable: false });
}
