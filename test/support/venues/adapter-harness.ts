import type { ListingPage, StreamMessage, VenueAdapter } from "../../../src/ports/venue.ts";
import type { VenuePorts } from "../../../src/venues/shared/venue-ports.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietLog } from "../quiet-log.ts";
import { countDrops } from "./count-drops.ts";
import { FakeSockets } from "./fake-sockets.ts";
import { ScriptedHttp, type ScriptedResponse } from "./scripted-http.ts";

const { signal } = new AbortController();

type Respond = (url: URL, requestIndex: number) => ScriptedResponse | Error;

/** Creates the ports of a venue adapter without a network. */
export function fakeVenuePorts(startAt?: number, respond: Respond = () => new Error("unexpected request")) {
  const clock = new FakeClock(startAt);
  const http = new ScriptedHttp(clock, ({ url }, requestIndex) => respond(new URL(url), requestIndex));
  const sockets = new FakeSockets();
  const { countDrop, drops } = countDrops();
  const random = { uniform: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
  const ports: VenuePorts = {
    id: "venue",
    playMoney: false,
    http,
    sockets,
    clock,
    random,
    log: quietLog,
    countDrop,
    drift: () => {},
  };
  return { ports, clock, http, sockets, drops };
}

/** Creates an adapter and responds to its requests with `respond`. */
export function adapterHarness(create: (ports: VenuePorts) => VenueAdapter, respond: Respond, startAt?: number) {
  const { ports, clock, http, drops } = fakeVenuePorts(startAt, respond);
  const venue = create(ports);
  return {
    clock,
    http,
    drops,
    venue,
    urls: () => http.requests.map(({ request }) => new URL(request.url)),
    /** Lists the open markets while the clock advances. */
    sweep: () => clock.until(collect(venue.listOpenMarkets(signal))),
  };
}

async function collect(pages: AsyncIterable<ListingPage>): Promise<ListingPage[]> {
  const collectedPages: ListingPage[] = [];
  for await (const page of pages) collectedPages.push(page);
  return collectedPages;
}

export const marketIdsOf = (pages: readonly ListingPage[]): string[] =>
  pages.flatMap(({ markets }) => markets.map(({ listing }) => listing.marketId));

/** Creates the ports of a stream, and handlers that record the stream's messages and states. */
export function streamHarness(startAt?: number) {
  const messages: StreamMessage[] = [];
  const states: string[] = [];
  return {
    ...fakeVenuePorts(startAt),
    messages,
    states,
    handlers: {
      onMessage: (message: StreamMessage) => void messages.push(message),
      onUp: () => void states.push("up"),
      onDown: (reason: string) => void states.push(`down: ${reason}`),
    },
    /** Returns the kind and market of each message, for example "trade KX-A". */
    received: () => messages.map(({ kind, marketId }) => `${kind} ${marketId}`),
    quotes: () => messages.flatMap((message) => (message.kind === "quote" ? [message.quote] : [])),
  };
}
