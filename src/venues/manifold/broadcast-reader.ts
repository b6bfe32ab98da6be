import type { MarketListing } from "../../domain/market.ts";
import { parseTradablePrice } from "../../domain/price.ts";
import { isObject } from "../../lib/is-object.ts";
import type { DropCounter, StreamHandlers } from "../../ports/venue.ts";
import { marketIdOf } from "./ids.ts";
import { isConversion, parseTrade } from "./parse-trades.ts";
import { parseTime } from "./parse-values.ts";
import {
  type BetWire,
  hasBinaryAnswers,
  isBet,
  isNewContract,
  type ManifoldDriftDetectors,
  type NewContractWire,
} from "./wire.ts";

/** Contract fields whose change requires a new read. The venue broadcasts many other changes after each bet. */
const LIFECYCLE_FIELDS = ["isResolved", "resolution", "resolutionTime", "closeTime", "question"] as const;

export interface BroadcastReaderOptions {
  readonly onMessage: StreamHandlers["onMessage"];
  readonly countDrop: DropCounter;
  readonly driftDetectors: ManifoldDriftDetectors;
}

/** Converts broadcasts of the global topics to stream messages of the followed markets. */
export class BroadcastReader {
  readonly #options: BroadcastReaderOptions;
  /** Ids of the followed markets by contract id. */
  #followedIdsByContract = new Map<string, Set<string>>();
  #newestBetAt: number | null = null;

  constructor(options: BroadcastReaderOptions) {
    this.#options = options;
  }

  /** Unix milliseconds of the newest bet on any market; null before the first bet. */
  get newestBetAt(): number | null {
    return this.#newestBetAt;
  }

  follow(markets: readonly MarketListing[]): void {
    this.#followedIdsByContract = new Map();
    for (const { marketId, venueKeys } of markets) {
      const contractId = venueKeys.contractId ?? marketId;
      const marketIds = this.#followedIdsByContract.get(contractId) ?? new Set<string>();
      this.#followedIdsByContract.set(contractId, marketIds.add(marketId));
    }
  }

  read(topic: string, data: Readonly<Record<string, unknown>>, receivedAt: number): void {
    if (topic === "global/new-bet") this.readBets(Array.isArray(data.bets) ? data.bets : [data.bets], receivedAt);
    else if (topic === "global/updated-contract") this.#readUpdatedContract(data.contract, receivedAt);
    else if (topic === "global/new-contract") this.#readNewContract(data.contract, receivedAt);
  }

  readBets(rows: readonly unknown[], receivedAt: number): void {
    const { countDrop, driftDetectors } = this.#options;
    const bets = driftDetectors.bet.filter(rows, isBet, () => countDrop("bad_bet"));
    for (const bet of bets) this.#readBet(bet, receivedAt);
  }

  #readBet(bet: BetWire, receivedAt: number) {
    const { onMessage, countDrop } = this.#options;
    const at = parseTime(bet.createdTime);
    const marketId = marketIdOf(bet.contractId, bet.answerId);
    if (at === null) return countDrop("bad_bet");
    this.#newestBetAt = Math.max(this.#newestBetAt ?? 0, at);
    if (this.#followedIdsByContract.get(bet.contractId)?.has(marketId) !== true) return;
    if (isConversion(bet)) return;
    const trade = parseTrade(bet, countDrop);
    if (trade !== null) onMessage({ kind: "trade", marketId, trade, receivedAt });
    const indicativePrice = parseTradablePrice(bet.probAfter);
    if (indicativePrice === null) return countDrop("price_out_of_range");
    onMessage({ kind: "quote", marketId, quote: { indicativePrice, eventAt: at }, receivedAt });
  }

  #readUpdatedContract(contract: unknown, receivedAt: number) {
    const { onMessage, countDrop } = this.#options;
    if (!isObject(contract) || typeof contract.id !== "string") return countDrop("bad_update");
    if (!("answers" in contract) && !LIFECYCLE_FIELDS.some((field) => field in contract)) return;
    for (const marketId of this.#followedIdsByContract.get(contract.id) ?? [])
      onMessage({ kind: "changed", marketId, receivedAt });
  }

  #readNewContract(contract: unknown, receivedAt: number) {
    const { onMessage, countDrop, driftDetectors } = this.#options;
    if (!driftDetectors.new_contract.check(contract, isNewContract)) return countDrop("bad_market");
    const marketIds = marketIdsOf(contract);
    if (marketIds === null) return countDrop("not_binary");
    for (const marketId of marketIds) onMessage({ kind: "listed", marketId, receivedAt });
  }
}

/** Returns the ids of a contract's markets; null unless the contract or its answers are yes-or-no questions. */
function marketIdsOf(contract: NewContractWire): string[] | null {
  if (contract.outcomeType === "BINARY") return [contract.id];
  if (!hasBinaryAnswers(contract)) return null;
  return contract.answers.flatMap((answer) => {
    const id = isObject(answer) ? answer.id : null;
    return typeof id === "string" ? marketIdOf(contract.id, id) : [];
  });
}
