import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { RunningSandbox } from "../../sandbox/main.ts";
import { createSocketIoClient } from "../../src/adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import type { MarketSnapshot } from "../../src/domain/market.ts";
import type { VenueAdapter } from "../../src/ports/venue.ts";
import { type Fact, readRecording } from "../../src/recording/index.ts";
import { loadVenue } from "../../src/venues/registry.ts";
import { quietLog } from "../support/quiet-log.ts";
import { eventually, run, temporaryFolder } from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";

const VENUES = ["kalshi", "polymarket", "limitless", "manifold"] as const;
const RECORDED_FACTS_MIN = 600;

let folder: { path: string; release(): Promise<void> };
let recordingFile: string;
let output: string;
let facts: Fact[];
let replay: RunningSandbox;
/** Offset between the recorded timestamps and the wall clock of the replay. */
let shiftMs: number;
const http = createUndiciHttp(systemClock);
const TIGHT_SPREAD_MAX = 0.1;
const HISTORY_SHARE = 0.2;
/** Milliseconds of replay time per step. */
const STEP_MS = 500;
/** Number of initial steps of 1 ms; during these steps a venue processes the subscription. */
const SLOW_STEP_COUNT = 5;
const STREAM_MS_MAX = 10_000;

/** Records a simulated sandbox with the command, then replays the whole recording as history in another sandbox. */
before(async () => {
  folder = await temporaryFolder();
  recordingFile = join(folder.path, "recording.jsonl.gz");
  const simulated = await testSandbox({ marketCount: 40, speed: 1_000 });
  const program = run(
    process.execPath,
    ["bin/parallax.mjs", "record", "--out", recordingFile],
    venueSettings(simulated),
  );
  await eventually(() => {
    const [, recordCount] = [...program.output().matchAll(/^(\d+) records/gm)].at(-1) ?? [];
    return Number(recordCount) >= RECORDED_FACTS_MIN ? true : null;
  }, "enough records");
  program.child.kill("SIGINT");
  assert.equal(await program.ended, 0);
  output = program.output();
  await simulated.close();
  facts = [];
  await readRecording(recordingFile, { onHeader() {}, onFact: (fact) => facts.push(fact) });
  const genesis = Date.now();
  replay = await testSandbox({ genesis, speed: 1, recording: { file: recordingFile, pastShare: 1 } });
  shiftMs = genesis - (facts.at(-1)?.at ?? 0);
});
after(async () => {
  await replay.close();
  await http.close();
  await folder.release();
});

/** Kalshi requires a key for its stream. The sandbox accepts any key. */
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const venueKey = { keyId: "replay", privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };

async function createAdapter(venue: string, sandbox = replay): Promise<VenueAdapter> {
  const setting = { id: venue, adapter: venue, referenceOnly: venue === "manifold" };
  const ports = {
    http,
    sockets: createWsSockets(systemClock),
    socketIo: createSocketIoClient(systemClock),
    clock: systemClock,
    random: systemRandom,
    log: quietLog,
    countDrop: (reason: string) => assert.fail(`${venue} dropped ${reason}`),
    // Fields may be missing, because a recording does not contain all fields. Every value must be documented.
    drift: (kind: string, field: string) => {
      if (kind === "unknown_value") assert.fail(`${venue} ${kind} ${field}`);
    },
  };
  const createVenue = await loadVenue(setting);
  return createVenue(ports, sandbox.urls[venue] ?? {}, {
    key: venue === "kalshi" ? venueKey : null,
    member: null,
  });
}

async function sweep(adapter: VenueAdapter): Promise<Map<string, MarketSnapshot>> {
  const found = new Map<string, MarketSnapshot>();
  for await (const page of adapter.listOpenMarkets(new AbortController().signal))
    for (const market of page.markets) found.set(market.listing.marketId, market);
  return found;
}

const detailsOf = <Kind extends Fact["kind"]>(venue: string, kind: Kind) =>
  facts.filter((fact): fact is Extract<Fact, { kind: Kind }> => fact.venue === venue && fact.kind === kind);
const toReplayTime = (at: number | null) => (at === null ? null : at + shiftMs);

test("the `record` command prints its output file, and the recording contains no keys and no IP addresses", async () => {
  assert.match(output, /Written to .*recording\.jsonl\.gz/);
  assert.doesNotMatch(JSON.stringify(facts), /127\.0\.0\.1|authorization/i);
  for (const venue of VENUES) {
    assert.ok(detailsOf(venue, "market").length > 0 && detailsOf(venue, "quote").length > 0, venue);
  }
});

for (const venue of VENUES) {
  test(`${venue}: the adapter reads the recorded listings and quotes from the replay`, async () => {
    const listed = await sweep(await createAdapter(venue));
    const recordedListings = new Map<string, Extract<Fact, { kind: "market" }>["market"]>();
    for (const { market } of detailsOf(venue, "market"))
      if (!recordedListings.has(market.marketId)) recordedListings.set(market.marketId, market);
    const quotes = new Map(detailsOf(venue, "quote").map(({ marketId, quote }) => [marketId, quote]));
    const books = new Map(detailsOf(venue, "book").map((fact) => [fact.marketId, fact]));
    const quoteAt = new Map(detailsOf(venue, "quote").map(({ marketId, at }) => [marketId, at]));
    let comparedCount = 0;
    for (const [marketId, { listing, quote }] of listed) {
      const recordedListing = recordedListings.get(marketId);
      assert.ok(recordedListing !== undefined, `${marketId} was not recorded`);
      const { venue: _, ...listingFields } = listing;
      assert.deepEqual(listingFields, {
        ...recordedListing,
        // These fields may change during the recording. All other fields equal the first record.
        status: listingFields.status,
        outcome: listingFields.outcome,
        paused: listingFields.paused,
        resolvedAt: listingFields.resolvedAt,
        openAt: toReplayTime(recordedListing.openAt),
        closeAt: toReplayTime(recordedListing.closeAt),
        expectedResolutionAt: toReplayTime(recordedListing.expectedResolutionAt),
      });
      const lastQuote = quotes.get(marketId);
      if (lastQuote === undefined) continue;
      const book = books.get(marketId);
      const isBookNewer = book !== undefined && book.at >= (quoteAt.get(marketId) ?? 0);
      const top = isBookNewer
        ? { bid: book.book.bids[0]?.price ?? null, ask: book.book.asks[0]?.price ?? null }
        : { bid: lastQuote.bid, ask: lastQuote.ask };
      assert.deepEqual({ bid: quote.bid, ask: quote.ask }, top, marketId);
      // Polling adapters omit the indicative price if the book is tight.
      const isTight = top.bid !== null && top.ask !== null && top.ask - top.bid <= TIGHT_SPREAD_MAX;
      if (!isBookNewer && !isTight) assert.equal(quote.indicativePrice, lastQuote.indicativePrice, marketId);
      comparedCount += 1;
    }
    assert.ok(comparedCount >= 5, `${comparedCount} markets compared`);
  });
}

/** Replays the part of the recording after `HISTORY_SHARE` and collects the messages of a venue's stream. */
async function openReplay(venue: (typeof VENUES)[number], addCleanup: (release: () => unknown) => void) {
  const genesis = Date.now();
  let now = genesis;
  const sandbox = await testSandbox({
    genesis,
    speed: 1,
    now: () => now,
    recording: { file: recordingFile, pastShare: HISTORY_SHARE },
  });
  addCleanup(() => sandbox.close());
  const adapter = await createAdapter(venue, sandbox);
  const listed = await sweep(adapter);
  const quotes = new Map<string, MarketSnapshot["quote"]>();
  const trades: string[] = [];
  const upEvent = Promise.withResolvers<void>();
  const stream = adapter.openStream({
    onUp: upEvent.resolve,
    onDown: () => {},
    onMessage(message) {
      const { marketId } = message;
      const known = quotes.get(marketId) ?? listed.get(marketId)?.quote;
      if (message.kind === "trade") trades.push(`${marketId} ${message.trade.size} at ${message.trade.yesPrice}`);
      if (message.kind === "quote" && known !== undefined) quotes.set(marketId, { ...known, ...message.quote });
    },
  });
  assert.ok(stream !== null, `${venue} has no stream`);
  addCleanup(() => stream.close());
  stream.follow([...listed.values()].map(({ listing }) => listing));
  await upEvent.promise;
  const [startedAt = 0, endedAt = 0] = [facts[0]?.at, facts.at(-1)?.at];
  const pivotAt = startedAt + (endedAt - startedAt) * HISTORY_SHARE + SLOW_STEP_COUNT;
  return {
    listed,
    quotes,
    trades,
    pivotAt,
    /** Advances the replay time until all expected messages have arrived. */
    async play(listMissing: () => readonly string[]) {
      const replayEndsAt = genesis + (endedAt - pivotAt) + STEP_MS;
      let stepCount = 0;
      const check = () => {
        stepCount += 1;
        now = Math.min(replayEndsAt, now + (stepCount <= SLOW_STEP_COUNT ? 1 : STEP_MS));
        return now === replayEndsAt && listMissing().length === 0 ? true : null;
      };
      await eventually(check, `the stream of ${venue}`, STREAM_MS_MAX).catch((error: unknown) => {
        assert.fail(`${String(error)}; missing: ${listMissing().join(", ")}`);
      });
    },
  };
}

for (const venue of ["kalshi", "polymarket", "limitless"] as const) {
  test(`${venue}: the stream of a replay sends the last recorded price of every market`, async (t) => {
    const { listed, quotes, pivotAt, play } = await openReplay(venue, (release) => t.after(release));
    const expected = new Map<string, string>();
    const formatTop = ({ bid, ask }: { bid: number | null; ask: number | null }) => `${bid}/${ask}`;
    for (const fact of facts) {
      if (fact.venue !== venue || fact.at <= pivotAt || !("marketId" in fact) || !listed.has(fact.marketId)) continue;
      if (fact.kind === "quote") expected.set(fact.marketId, formatTop(fact.quote));
      if (fact.kind !== "book") continue;
      const [[bid], [ask]] = [fact.book.bids, fact.book.asks];
      expected.set(fact.marketId, formatTop({ bid: bid?.price ?? null, ask: ask?.price ?? null }));
    }
    const quotesBefore = new Map(quotes);
    await play(() =>
      [...expected].flatMap(([marketId, top]) => {
        const quote = quotes.get(marketId) ?? listed.get(marketId)?.quote;
        return quote !== undefined && formatTop(quote) === top ? [] : [`${marketId} ${top}`];
      }),
    );
    const changedIds = [...expected.keys()].filter((marketId) => quotes.get(marketId) !== quotesBefore.get(marketId));
    assert.ok(changedIds.length > 0, "no quote was streamed");
  });
}

test("manifold: the stream of a replay sends every recorded bet", async (t) => {
  const { listed, quotes, trades, pivotAt, play } = await openReplay("manifold", (release) => t.after(release));
  const expected = detailsOf("manifold", "trade").filter(
    ({ marketId, trade }) => trade.executedAt > pivotAt && listed.has(marketId),
  );
  assert.ok(expected.length > 0, "the replayed part of the recording contains no bets");
  await play(() =>
    expected
      .map(({ marketId, trade }) => `${marketId} ${trade.size} at ${trade.yesPrice}`)
      .filter((text) => !trades.includes(text)),
  );
  assert.ok(quotes.size > 0, "no bet had a probability");
});
