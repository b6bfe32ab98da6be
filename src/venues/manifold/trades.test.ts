import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeVenuePorts } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { createManifoldClient } from "./client.ts";
import { listMissedBets } from "./trades.ts";

const fixture = fixtureReader(import.meta.url);
const NOW = 1_795_230_000_000;
const PAGE_ROWS = 1_000;
const { signal } = new AbortController();

/** Serves a bet for each millisecond before `NOW`, and lists the bets missed in the last `periodMs`. */
async function listMissed(periodMs: number) {
  const [bet] = (fixture("stream/new-bet") as { data: { bets: object[] } }).data.bets;
  const { ports, clock, http, drops } = fakeVenuePorts(NOW, ({ searchParams }) => {
    const before = Number(searchParams.get("beforeTime") ?? NOW);
    const after = Number(searchParams.get("afterTime"));
    const count = Math.min(PAGE_ROWS, before - after - 1);
    const rows = Array.from({ length: count }, (_, at) => ({
      ...bet,
      id: `b${before - at}`,
      createdTime: before - 1 - at,
    }));
    return { body: JSON.stringify(rows) };
  });
  const client = createManifoldClient({ ...ports, baseUrl: "https://venue.example/v0" });
  const { rows } = await clock.until(listMissedBets({ client, countDrop: ports.countDrop }, NOW - periodMs, signal));
  const times = new Set(rows.map((row) => (row as { createdTime: number }).createdTime));
  return { times, drops, searches: http.requests.map(({ request }) => new URL(request.url).search) };
}

test("the bets missed while disconnected include the rows with zero shares and are read from several pages", async () => {
  const { times, searches, drops } = await listMissed(2_500);
  assert.equal(times.size, 2_499);
  assert.deepEqual(searches, [
    `?afterTime=${NOW - 2_500}&limit=1000&includeZeroShareRedemptions=true`,
    `?afterTime=${NOW - 2_500}&beforeTime=${NOW - 999}&limit=1000&includeZeroShareRedemptions=true`,
    `?afterTime=${NOW - 2_500}&beforeTime=${NOW - 1_998}&limit=1000&includeZeroShareRedemptions=true`,
  ]);
  assert.deepEqual(drops, {});
});

test("at most five pages of missed bets are requested, the newest bets first", async () => {
  const { times, searches } = await listMissed(60_000);
  assert.equal(searches.length, 5);
  assert.equal(Math.max(...times), NOW - 1);
  assert.equal(Math.min(...times), NOW - PAGE_ROWS - 4 * (PAGE_ROWS - 1));
});
