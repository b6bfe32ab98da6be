import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createSocketIoClient } from "../../src/adapters/socket-io-client.ts";
import { systemClock } from "../../src/adapters/system-clock.ts";
import { systemRandom } from "../../src/adapters/system-random.ts";
import { createUndiciHttp } from "../../src/adapters/undici-http.ts";
import { createWsSockets } from "../../src/adapters/ws-socket.ts";
import type { MarketSnapshot } from "../../src/domain/market.ts";
import type { VenueAdapter } from "../../src/ports/venue.ts";
import { type Fact, readRecording } from "../../src/recording/index.ts";
import type { RunningSandbox } from "../../src/sandbox/main.ts";
import { createVenue } from "../../src/venues/registry.ts";
import { quietLog } from "../support/quiet-log.ts";
import { testSandbox, venueSettings } from "../support/sandbox.ts";
import { eventually, run, temporaryFolder } from "../support/service-process.ts";

const VENUES = ["kalshi", "polymarket", "limitless", "manifold"] as const;
const FACTS_ENOUGH = 400;

let folder: { path: string; release(): Promise<void> };
let file: string;
let output: string;
let facts: Fact[];
let replay: RunningSandbox;
/** What the recording's instants lie behind the wall clock in the replay. */
let shiftMs: number;
const http = createUndiciHttp(systemClock);
const TIGHT_SPREAD = 0.1;

/** The command records a simulated sandbox until it is interrupted; then another sandbox replays all of it as past. */
before(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, "recording.jsonl.gz");
  const simulated = await testSandbox({ marketCount: 40 });
  const program = run(process.execPath, ["bin/parallax.mjs", "record", "--out", file], venueSettings(simulated));
  await eventually(() => {
    const [, told] = [...program.output().matchAll(/^(\d+) facts/gm)].at(-1) ?? [];
    return Number(told) >= FACTS_ENOUGH ? true : null;
  }, "enough facts");
  program.child.kill("SIGINT");
  assert.equal(await program.ended, 0);
  output = program.output();
  await simulated.close();
  facts = [];
  await readRecording(file, { onHeader() {}, onFact: (fact) => facts.push(fact) });
  const genesis = Date.now();
  replay = await testSandbox({ genesis, speed: 1, recording: { file, pastShare: 1 } });
  shiftMs = genesis - (facts.at(-1)?.at ?? 0);
});
after(async () => {
  await replay.close();
  await http.close();
  await folder.release();
});

function adapterOf(venue: string): VenueAdapter {
  const setting = { id: venue, adapter: venue, referenceOnly: venue === "manifold" };
  const ports = {
    ...{ http, sockets: createWsSockets(systemClock), socketIo: createSocketIoClient(systemClock) },
    ...{ clock: systemClock, random: systemRandom, log: quietLog },
    drop: (reason: string) => assert.fail(`${venue} dropped ${reason}`),
    // What the recording does not know is missing on the replayed wire, but its words are the venue's.
    drift: (kind: string, field: string) => {
      if (kind === "unknown_value") assert.fail(`${venue} ${kind} ${field}`);
    },
  };
  return createVenue(setting, ports, replay.urls[venue] ?? {}, null);
}

async function sweep(adapter: VenueAdapter): Promise<Map<string, MarketSnapshot>> {
  const found = new Map<string, MarketSnapshot>();
  for await (const page of adapter.listOpenMarkets(new AbortController().signal))
    for (const market of page.markets) found.set(market.listing.marketId, market);
  return found;
}

const factsOf = <Kind extends Fact["kind"]>(venue: string, kind: Kind) =>
  facts.filter((fact): fact is Extract<Fact, { kind: Kind }> => fact.venue === venue && fact.kind === kind);
const moved = (at: number | null) => (at === null ? null : at + shiftMs);

test("the command says what it wrote, and tells nothing of keys or addresses", async () => {
  assert.match(output, /Written to .*recording\.jsonl\.gz/);
  assert.doesNotMatch(JSON.stringify(facts), /127\.0\.0\.1|authorization/i);
  for (const venue of VENUES) {
    assert.ok(factsOf(venue, "market").length > 0 && factsOf(venue, "quote").length > 0, venue);
  }
});

for (const venue of VENUES) {
  test(`${venue}: adapters read from the replay the listings, quotes and figures that were recorded`, async () => {
    const shown = await sweep(adapterOf(venue));
    const recorded = new Map<string, Extract<Fact, { kind: "market" }>["market"]>();
    for (const { market } of factsOf(venue, "market"))
      if (!recorded.has(market.marketId)) recorded.set(market.marketId, market);
    const quotes = new Map(factsOf(venue, "quote").map(({ marketId, quote }) => [marketId, quote]));
    const books = new Map(factsOf(venue, "book").map((fact) => [fact.marketId, fact]));
    const quoteAt = new Map(factsOf(venue, "quote").map(({ marketId, at }) => [marketId, at]));
    let compared = 0;
    for (const [marketId, { listing, quote }] of shown) {
      const first = recorded.get(marketId);
      assert.ok(first !== undefined, `${marketId} was not recorded`);
      const { venue: _, ...present } = listing;
      assert.deepEqual(present, {
        ...first,
        // Life goes on while a recording is made; all else is as first told.
        ...{ status: present.status, outcome: present.outcome, paused: present.paused, resolvedAt: present.resolvedAt },
        openAt: moved(first.openAt),
        closeAt: moved(first.closeAt),
        expectedResolutionAt: moved(first.expectedResolutionAt),
      });
      const last = quotes.get(marketId);
      if (last === undefined) continue;
      const book = books.get(marketId);
      const isBookNewer = book !== undefined && book.at >= (quoteAt.get(marketId) ?? 0);
      const top = isBookNewer
        ? { bid: book.book.bids[0]?.price ?? null, ask: book.book.asks[0]?.price ?? null }
        : { bid: last.bid, ask: last.ask };
      assert.deepEqual({ bid: quote.bid, ask: quote.ask }, top, marketId);
      // Beside a tight book an indication says nothing, and an adapter that polls leaves it out.
      const isTight = top.bid !== null && top.ask !== null && top.ask - top.bid <= TIGHT_SPREAD;
      if (!isBookNewer && !isTight) assert.equal(quote.indicativePrice, last.indicativePrice, marketId);
      compared += 1;
    }
    assert.ok(compared >= 5, `${compared} compared`);
  });
}
