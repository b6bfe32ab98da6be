import { VenueError } from "../../domain/errors.ts";
import type { FeeRounding } from "../../domain/market.ts";
import type { IncompleteReason } from "../../ports/venue.ts";
import { walkPages } from "../shared/page-walk.ts";
import { type QueryValue, VenueClient } from "../shared/venue-client.ts";
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

/** Dependencies of all functions that read from Kalshi. */
export interface KalshiContext extends VenuePorts {
  readonly client: VenueClient;
  readonly driftDetectors: KalshiDriftDetectors;
  readonly feeRounding: FeeRounding;
}

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

/** Creates the client of Kalshi's REST API. It signs every request if a key is configured. */
export function createClient(ports: VenuePorts, restUrl: string, signer: Signer | null): VenueClient {
  const perSecond = signer === null ? REQUESTS_PER_SECOND_WITHOUT_KEY : REQUESTS_PER_SECOND_WITH_KEY;
  return new VenueClient({
    ...ports,
    baseUrl: restUrl,
    limits: { perSecond, burst: perSecond, concurrency: CONCURRENCY },
    deadlineMs: DEADLINE_MS,
    maxBodyBytes: BODY_BYTES_MAX,
    headers: signer === null ? undefined : (url) => signer("GET", url.pathname, ports.clock.now()),
  });
}

/** Yields pages until the cursor is empty or the listing is found to be incomplete, which is counted. */
export async function* listPages<Envelope extends { cursor?: string | null }>(
  { client, driftDetectors, countDrop }: KalshiContext,
  { path, query, isEnvelope, rowsOf, idField, pagesMax, prefetch }: PageRequest<Envelope>,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const walk = walkPages({
    fetch: async (cursor) => {
      const { json, requestedAt, receivedAt } = await client.fetchJson(path, { query: { ...query, cursor }, signal });
      if (!driftDetectors.page.check(json, isEnvelope)) throw createUnknownShapeError(path);
      return { cursor: json.cursor ?? "", rows: rowsOf(json), requestedAt, receivedAt };
    },
    nextOf: ({ cursor }) => (cursor === "" ? null : cursor),
    idField,
    pagesMax,
    prefetch,
    countDrop,
  });
  for await (const { page, incompleteReason } of walk) yield { ...page, incompleteReason };
}

/** Returns the value if it has the shape. @throws VenueError (bad_body) that names the path */
export function expectShape<Shape>(value: unknown, isShape: (value: unknown) => value is Shape, path: string): Shape {
  if (isShape(value)) return value;
  throw createUnknownShapeError(path);
}

function createUnknownShapeError(path: string): VenueError {
  return new VenueError("bad_body", `${path} returned a body of unknown shape`, { retryable: false });
}
