import { createMemoryQuotaJournal } from "../../../src/adapters/metering/quota-journal-memory.ts";
import { QuotaMeter } from "../../../src/capabilities/accounts/metering/quota-meter.ts";
import { createQuotaStore } from "../../../src/capabilities/accounts/metering/quota-store.ts";
import { HOUR_MS } from "../../../src/lib/durations.ts";
import type { Database } from "../../../src/ports/database.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { seededUniform } from "../../../test/support/research/sample-web.ts";
import { openTemporaryStore } from "../../harness/open-store.ts";
import type { ScoreboardRow } from "../row.ts";

/** Time zones of the store's session. Their offsets are whole, half and quarter hours. */
const ZONES = [
  "UTC",
  "America/New_York",
  "Europe/Berlin",
  "Asia/Kathmandu",
  "Pacific/Kiritimati",
  "Australia/Lord_Howe",
] as const;
/** Ends of months in UTC: a year, a leap February, and months in which summer time begins or ends. */
const MONTH_ENDS = [
  Date.UTC(2027, 0),
  Date.UTC(2028, 2),
  Date.UTC(2027, 3),
  Date.UTC(2027, 10),
  Date.UTC(2027, 11),
] as const;
const CALLS = 10_000;
const CALLS_QUICK = 2_000;
/** Calls are made around these offsets from the end of a month. At offset 0, they are made before and after the end. */
const DISTANCES_MS = [-13 * HOUR_MS, -5 * HOUR_MS, 0, 5 * HOUR_MS, 13 * HOUR_MS] as const;
const STEP_MS_MAX = 200;
const LIMIT = 1_000_000;

export const monthEndsRow: ScoreboardRow = {
  id: "S23",
  figure: `calls around ${MONTH_ENDS.length} ends of months in ${ZONES.length} time zones that are counted in another month, twice or not, and wrong reset dates`,
  target: `0 of ${CALLS.toLocaleString("en-US")} calls, 0 wrong dates`,
  mutations: [
    {
      defence: "months are months in UTC",
      file: "src/capabilities/accounts/metering/quota-store.ts",
      find: `  select $1, \${MONTH_SQL}::date, $2, unit.size, unit.size\n`,
      replace: "  select $1, date_trunc('month', now())::date, $2, unit.size, unit.size\n",
    },
    {
      defence: "a block is not used after the end of its month",
      file: "src/capabilities/accounts/metering/quota-blocks.ts",
      find: "block.spent < block.size && now < block.monthEndsAt) return block;",
      replace: "block.spent < block.size) return block;",
    },
  ],
  async measure({ quick, seed }) {
    await using closers = new AsyncDisposableStack();
    const database = await openTemporaryStore(closers);
    const uniform = seededUniform(seed);
    const places = ZONES.length * MONTH_ENDS.length * DISTANCES_MS.length;
    const calls = Math.ceil((quick ? CALLS_QUICK : CALLS) / places);
    const totals = { calls: 0, wrongMonth: 0, wrongDates: 0 };
    for (const zone of ZONES) {
      await database.query(`set time zone '${zone}'`);
      for (const place of MONTH_ENDS.flatMap((end) => DISTANCES_MS.map((distanceMs) => end + distanceMs))) {
        const counts = await countAround(database, place, { calls, customerId: zone, uniform });
        totals.calls += calls;
        totals.wrongMonth += counts.wrongMonth;
        totals.wrongDates += counts.wrongDates;
      }
    }
    return {
      isMet: totals.wrongMonth === 0 && totals.wrongDates === 0,
      value: `${totals.wrongMonth} of ${totals.calls} calls counted wrongly, ${totals.wrongDates} wrong reset dates`,
    };
  },
};

/** Makes calls before and after a time on a new node, and compares the stored counts with the calls of each UTC month. */
async function countAround(
  database: Database,
  place: number,
  options: { readonly calls: number; readonly customerId: string; readonly uniform: () => number },
) {
  const { calls, customerId, uniform } = options;
  const clock = new FakeClock(place - (calls * STEP_MS_MAX) / 4);
  const store = createQuotaStore(atClock(database, clock));
  const journal = createMemoryQuotaJournal();
  const meter = new QuotaMeter({ store, journal, clock, log: quietLog, nodeId: `${customerId}-${place}` });
  await meter.start();
  const account = { customerId, tier: "INSIGHT" } as const;
  const before = await readCounts(database, customerId);
  const expected = new Map<string, number>();
  let wrongDates = 0;
  for (let call = 0; call < calls; call++) {
    await clock.advance(Math.round(uniform() * STEP_MS_MAX));
    const decision = await meter.take(account, LIMIT);
    if (!decision.isAllowed) throw new Error("a call below the limit was rejected");
    const now = new Date(clock.now());
    const month = `${now.toISOString().slice(0, 7)}-01`;
    expected.set(month, (expected.get(month) ?? 0) + 1);
    const resetsOn = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString().slice(0, 10);
    if (call % 10 === 0 && (await store.usage(customerId)).resetsOn !== resetsOn) wrongDates += 1;
  }
  if (MONTH_ENDS.some((end) => end === place) && expected.size !== 2) throw new Error("no call was after the month");
  await meter.stop();
  const counts = await readCounts(database, customerId);
  let wrongMonth = 0;
  for (const month of new Set([...expected.keys(), ...counts.keys()])) {
    const counted = (counts.get(month) ?? 0) - (before.get(month) ?? 0);
    wrongMonth += Math.abs(counted - (expected.get(month) ?? 0));
  }
  return { wrongMonth, wrongDates };
}

async function readCounts(database: Database, customerId: string): Promise<Map<string, number>> {
  const rows = await database.query<{ month: string; taken: number }>(
    "select to_char(month, 'YYYY-MM-DD') as month, taken from quota_months where customer_id = $1",
    [customerId],
  );
  return new Map(rows.map(({ month, taken }) => [month, Number(taken)]));
}

/** Returns a database that replaces `now()` in statements with the time of the clock. */
function atClock(database: Database, clock: FakeClock): Database {
  const withTime = (text: string) => text.replaceAll("now()", `timestamptz '${new Date(clock.now()).toISOString()}'`);
  return {
    ...database,
    query: <Row extends object>(text: string, parameters?: readonly unknown[]) =>
      database.query<Row>(withTime(text), parameters),
  };
}
