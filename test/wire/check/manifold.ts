/** Checks the recordings of Manifold. */
import {
  type BetMarket,
  expectedBet,
  expectedBins,
  expectedManifoldStream,
  isBet,
  isBetPoint,
  marketIdOfBet,
  marketsOfBroadcasts,
} from "../expected/manifold-data.ts";
import { expectedManifoldMarkets, isContract } from "../expected/manifold-markets.ts";
import { collect, type JsonObject, numberOf, splitByRepeatedId, textOf } from "../json.ts";
import type { AdapterSession } from "../replay/adapter-session.ts";
import { compareItems } from "../replay/compare-data.ts";
import { historyFacts, tradeFacts } from "../replay/facts.ts";
import { ManifoldSocket, type ManifoldWorld, manifoldRespond } from "../replay/manifold-server.ts";
import { checkMarkets } from "../replay/read-markets.ts";
import { openFollowedStream, playStream } from "../replay/read-stream.ts";
import { sampleManifoldContract } from "../replay/sample-rows.ts";
import { type CheckContext, fetchListings, groupBy, listingOf, reportUnrecognised, signal } from "./context.ts";

const HOUR_MS = 3_600_000;
const TRADES_MAX = 10_000;
/** Number of intervals into which a recording of bets is divided. */
const BINS = 60;
const UNSENT_REASONS: ReadonlySet<string> = new Set(["control_frame", "channel_not_subscribed"]);

export async function checkManifold(context: CheckContext): Promise<void> {
  const { kind } = context.recording.endpoint;
  if (kind === "markets") return checkRows(context);
  if (kind === "trades") return checkBets(context, isBet, true);
  if (kind === "history") return checkBets(context, isBetPoint, false);
  return checkStream(context);
}

function openSession(
  { recording, open }: CheckContext,
  world: Omit<ManifoldWorld, "now">,
  socket?: ManifoldSocket,
): Promise<AdapterSession> {
  return open({
    respond: manifoldRespond({ ...world, now: recording.capturedAt }),
    onText: socket?.onText,
  });
}

async function checkRows(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  reportUnrecognised(context, isContract);
  const rows = collect(recording.payload, isContract);
  for (const [index, contracts] of splitByRepeatedId(rows, (row) => String(row.id)).entries()) {
    const session = await openSession(context, { contracts });
    const expected = contracts.flatMap((row) => expectedManifoldMarkets(row, recording.capturedAt));
    await checkMarkets(session, expected, findings, index === 0 ? "" : `version ${index + 1} of `);
  }
}

/** Returns sample contracts with the answers that the data names. */
function contractsOf(markets: readonly BetMarket[], now: number): JsonObject[] {
  const answersByContract = new Map<string, string[]>();
  for (const { contractId, answerId } of markets) {
    const answers = answersByContract.get(contractId) ?? [];
    answersByContract.set(contractId, answerId === null ? answers : [...answers, answerId]);
  }
  return [...answersByContract].map(([id, answers]) => sampleManifoldContract(id, answers, now));
}

/** Reads bets as trades and as price history. */
async function checkBets(
  context: CheckContext,
  isRow: (row: JsonObject) => boolean,
  hasTrades: boolean,
): Promise<void> {
  const { recording, findings } = context;
  const bets = collect(recording.payload, isRow).map(
    (row) => ({ contractId: "recordedContract", ...row }) as JsonObject,
  );
  const byMarket = groupBy(bets, marketIdOfBet);
  const markets = bets.map((bet) => ({ contractId: String(bet.contractId), answerId: textOf(bet.answerId) }));
  const distinct = [...new Map(markets.map((market) => [JSON.stringify(market), market])).values()];
  const session = await openSession(context, { contracts: contractsOf(distinct, recording.capturedAt), bets });
  const listings = await fetchListings(session, [...byMarket.keys()]);
  for (const [marketId, ofMarket] of byMarket) {
    const listing = listingOf(listings, marketId);
    if (hasTrades) {
      const actual = await session.adapter.listTrades(listing, 0, TRADES_MAX, signal);
      const rowOf = (index: number) => `bet ${ofMarket[index]?.id}`;
      compareItems("listTrades", rowOf, ofMarket.map(expectedBet), actual.map(tradeFacts), findings);
    }
    const times = ofMarket.map((bet) => numberOf(bet.createdTime) ?? 0);
    const hours = Math.max(1, Math.ceil((Math.max(...times) - Math.min(...times)) / HOUR_MS / BINS));
    const intervalMs = hours * HOUR_MS;
    const fromMs = Math.floor(Math.min(...times) / intervalMs) * intervalMs;
    const range = { fromMs, toMs: (Math.floor(Math.max(...times) / intervalMs) + 1) * intervalMs, intervalMs };
    const points = await session.adapter.getHistory(listing, range, signal);
    const rowOf = (index: number) => `interval ${index + 1} of ${marketId}`;
    compareItems("getHistory", rowOf, expectedBins(ofMarket, range), points.map(historyFacts), findings);
  }
}

async function checkStream(context: CheckContext): Promise<void> {
  const { recording, findings } = context;
  const { payload, capturedAt } = recording;
  const socket = new ManifoldSocket();
  const markets = marketsOfBroadcasts(payload);
  const session = await openSession(context, { contracts: contractsOf(markets, capturedAt) }, socket);
  const ids = markets.map(({ contractId, answerId }) => (answerId === null ? contractId : `${contractId}:${answerId}`));
  const listings = await fetchListings(session, ids);
  const open = await openFollowedStream(session, [...listings.values()]);
  const expected = expectedManifoldStream(payload, markets, socket.topics, capturedAt);
  const transmission = (frame: unknown) => {
    const text = JSON.stringify(frame);
    return { key: text, send: () => session.loopback.sendText(text) };
  };
  const subscriptions = () => socket.subscriptions;
  await playStream({ session, open, expected, transmission, unsentReasons: UNSENT_REASONS, subscriptions }, findings);
}
