/** Measures the matching of a whole board: `node bench/matching.ts [--markets 300000]`. */
import { parseArgs } from "node:util";
import { SANDBOX_VENUES } from "../sandbox/world/types.ts";
import { Universe } from "../sandbox/world/universe.ts";
import { type MatchableMarket, MatchIndex } from "../src/matching/index.ts";

const { values } = parseArgs({ options: { markets: { type: "string", default: "300000" } } });
const count = Number(values.markets);
const print = (text: string) => process.stdout.write(`${text}\n`);
const mib = () => Math.round(process.memoryUsage().rss / 2 ** 20);
const GENESIS = Date.UTC(2026, 10, 20);
const SLICE = 500;

/** The listings of a sandbox of this size. */
function createMarkets(): MatchableMarket[] {
  const universe = new Universe({ seed: 1, genesis: GENESIS, marketCount: count });
  return SANDBOX_VENUES.flatMap((venue) =>
    universe.listing(venue, GENESIS).markets.map((market) => ({
      id: `${venue}/${market.index}`,
      venue,
      title: market.question,
      outcomeLabel: market.event.markets.length > 1 ? market.label : null,
      eventSlug: `${venue}:${market.event.index}`,
      eventTitle: market.event.title,
      category: market.event.category,
      openAt: market.openAt,
      closeAt: market.closeAt,
      expectedResolutionAt: market.closeAt,
    })),
  );
}

const markets = createMarkets();
globalThis.gc?.();
const rssBefore = mib();
const cpuBefore = process.cpuUsage();
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage(cpuBefore);
  return (user + system) / 1e6;
};
print(`${markets.length} markets, RSS ${rssBefore} MiB before`);

const index = new MatchIndex();
for (const market of markets) index.set(market);
print(`indexed: ${cpuSeconds().toFixed(1)} s of CPU, RSS ${mib()} MiB`);
let pairs = 0;
let wanted = 0;
for (let pending = 1; pending > 0; ) {
  const update = index.update(SLICE);
  pairs += update.added.length - update.removed.length;
  wanted += update.rulesWanted.length;
  for (const id of update.rulesWanted) index.setRules(id, null);
  pending = update.pendingCount + update.rulesWanted.length;
}
globalThis.gc?.();
print(
  `matched: ${cpuSeconds().toFixed(1)} s of CPU in all, ${pairs} pairs, ${wanted} rules wanted, RSS ${mib()} MiB (+${mib() - rssBefore})`,
);

const times: number[] = [];
for (let change = 0; change < 2_000; change++) {
  const market = markets[(change * 7_919) % markets.length];
  if (market === undefined) continue;
  const start = process.cpuUsage();
  index.set({ ...market, title: `${market.title} ` });
  index.update(1);
  const { user, system } = process.cpuUsage(start);
  times.push((user + system) / 1e3);
}
times.sort((a, b) => a - b);
const quantile = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2);
print(`one changed market: p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, maximum ${quantile(1)} ms`);
