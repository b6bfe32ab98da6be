import { clamp, roundTo } from "../../src/lib/numbers.ts";
import { snapToBands } from "./price-bands.ts";
import { ResolutionPlants } from "./resolution-plants.ts";
import { type PlantedSet, SetPlants } from "./set-plants.ts";
import type {
  BookState,
  Level,
  ListedEvent,
  ListedMarket,
  NotTradableReason,
  ResolutionStep,
  World,
  WorldOutcome,
  WorldTrade,
} from "./types.ts";

/** Maximum number of planted shifts and trades of one world. */
const PLANTS_MAX = 10_000;
/** Number of the simulated trader that makes planted trades, unless another trader is given. */
const PLANTED_TAKER = 9_999_999;

interface Shift {
  readonly at: number;
  /** Amount in price units that is added to all prices of the market from `at` on. */
  readonly move: number;
}

/** Thrown for too many plants, for a trade in a market that has no price, and if no event is suitable for a set. */
export class PlantError extends Error {}

export interface PlantedTrade {
  /** The side that the taker buys. */
  readonly side: "yes" | "no";
  readonly usd: number;
  /** Number of the simulated trader. */
  readonly taker?: number;
}

/** A world in which tests can change prices, trades and resolutions from a given time on. Such changes are "plants". */
export interface PlantedWorld extends World {
  /** Moves the prices of a market by `move` from `at` on. Prices stay within one tick of 0 and 1. */
  plantShift(market: ListedMarket, at: number, move: number): void;
  /** Adds a trade at the best price. The book does not change. */
  plantTrade(market: ListedMarket, at: number, trade: PlantedTrade): WorldTrade;
  /** Moves a market to a step of its resolution, where it stays until the next step. */
  plantResolution(market: ListedMarket, at: number, step: ResolutionStep, outcome: WorldOutcome | null): void;
  /**
   * Changes the prices of a set of exclusive outcomes so that its asks sum to less than 1 after fees.
   *
   * @param events  candidates; the first suitable event is used
   * @param row  how the venue lists the most likely outcome, which then cannot be bought; null if all can be bought
   */
  plantSet(events: readonly ListedEvent[], at: number, row: NotTradableReason | null): PlantedSet;
}

/** Creates a world that is equal to the given world until a plant is added. */
export function createPlantedWorld(world: World): PlantedWorld {
  const shifts = new Map<number, Shift[]>();
  const trades = new Map<number, WorldTrade[]>();
  const resolutions = new ResolutionPlants();
  const sets = new SetPlants();
  let count = 0;

  const reserve = () => {
    if (count >= PLANTS_MAX) throw new PlantError(`a world has at most ${PLANTS_MAX} plants`);
    count += 1;
  };
  const moveAt = ({ index }: ListedMarket, at: number): number =>
    (shifts.get(index) ?? []).reduce((sum, shift) => (shift.at <= at ? sum + shift.move : sum), 0);
  const plantedUntil = ({ index }: ListedMarket, at: number) =>
    (trades.get(index) ?? []).filter((trade) => trade.at <= at);
  const shiftPrice = (market: ListedMarket, price: number, at: number): number =>
    roundTo(clamp(price + moveAt(market, at), market.tick, 1 - market.tick), 6);

  const listTrades: World["trades"] = (market, from, to) => {
    const planted = (trades.get(market.index) ?? []).filter((trade) => trade.at >= from && trade.at < to);
    const simulated = world.trades(market, from, to);
    if (planted.length === 0 && !shifts.has(market.index)) return simulated;
    const moved = simulated.map((trade) => ({ ...trade, yesPrice: shiftPrice(market, trade.yesPrice, trade.at) }));
    return [...moved, ...planted].sort((a, b) => a.at - b.at);
  };
  const book = (market: ListedMarket, at: number): BookState => {
    const state = world.book(market, at);
    if (sets.find(market, at) !== null) return { ...state, bids: [], asks: [], version: state.version + 1 };
    const changes = [...(shifts.get(market.index) ?? []), ...plantedUntil(market, at)].filter(
      (plant) => plant.at <= at,
    );
    if (changes.length === 0) return state;
    const move = moveAt(market, at);
    const since = Math.min(...changes.map((plant) => plant.at));
    const lastTrade = listTrades(market, since, at + 1).at(-1);
    return {
      ...state,
      bids: moveLevels(market, state.bids, move, "down"),
      asks: moveLevels(market, state.asks, move, "up"),
      lastPrice: lastTrade?.yesPrice ?? state.lastPrice,
      changedAt: Math.max(state.changedAt, ...changes.map((plant) => plant.at)),
      version: state.version + changes.length,
    };
  };
  const probability: World["probability"] = (market, at) => {
    const price = world.probability(market, at);
    return price === null ? null : shiftPrice(market, price, at);
  };

  const lifecycle: World["lifecycle"] = (market, at) =>
    resolutions.lifecycle(market, at) ?? sets.lifecycle(market, at) ?? world.lifecycle(market, at);
  const plantShift: PlantedWorld["plantShift"] = (market, at, move) => {
    reserve();
    shifts.set(market.index, [...(shifts.get(market.index) ?? []), { at, move }]);
  };
  const plantResolution: PlantedWorld["plantResolution"] = (market, at, step, outcome) => {
    reserve();
    resolutions.add(market, at, step, outcome);
  };

  return {
    ...world,
    lifecycle,
    nextPhaseAt: (market, after) =>
      Math.min(resolutions.nextPhaseAt(world, market, after), sets.nextPhaseAt(market, after)),
    plantedResolution: (market, at) => resolutions.find(market, at),
    plantedRow: (market, at) => sets.find(market, at),
    plantShift,
    plantResolution,
    plantSet(events, at, row) {
      const view = { ...world, lifecycle, book };
      const event = events.find((candidate) => sets.canPlant(view, candidate, at));
      if (event === undefined) throw new PlantError("no suitable event has an exhaustive set of open outcomes");
      const planted = sets.add(view, event, at, row);
      for (const { market, ask } of planted.outcomes)
        plantShift(market, at, ask - (book(market, at).asks[0]?.price ?? ask));
      if (planted.leftOut !== null && (row === "closed" || row === "settled_no"))
        plantResolution(planted.leftOut.market, at, row === "closed" ? "closed_disputed" : "final", { kind: "no" });
      return planted;
    },
    book,
    probability,
    trades: listTrades,
    activity(market, at) {
      const state = world.activity(market, at);
      const planted = plantedUntil(market, at);
      if (planted.length === 0) return state;
      const contracts = planted.reduce((sum, { size }) => sum + size, 0);
      const usd = planted.reduce((sum, { size, yesPrice }) => sum + size * yesPrice, 0);
      const add = (value: number | null, more: number) =>
        value === null ? null : Math.round((value + more) * 100) / 100;
      return {
        ...state,
        volumeContracts: add(state.volumeContracts, contracts),
        volumeUsd: add(state.volumeUsd, usd),
        volume24hContracts: add(state.volume24hContracts, contracts),
        volume24hUsd: add(state.volume24hUsd, usd),
      };
    },
    nextChangeAt(market, after) {
      const planted = [...(shifts.get(market.index) ?? []), ...(trades.get(market.index) ?? [])];
      const next = planted.map(({ at }) => at).filter((at) => at > after);
      return Math.min(world.nextChangeAt(market, after), ...next);
    },
    plantTrade(market, at, { side, usd, taker = PLANTED_TAKER }) {
      const { bids, asks } = book(market, at);
      const best = side === "yes" ? asks[0]?.price : bids[0]?.price;
      const yesPrice = best ?? probability(market, at);
      if (yesPrice === null) throw new PlantError("the market has no price");
      reserve();
      const size = Math.max(1, Math.round(usd / (side === "yes" ? yesPrice : 1 - yesPrice)));
      const price = Math.round(yesPrice * 1e6) / 1e6;
      const trade: WorldTrade = {
        id: `${market.index}-planted-${count}-0`,
        at,
        yesPrice: price,
        size,
        takerSide: side,
        taker,
      };
      trades.set(market.index, [...(trades.get(market.index) ?? []), trade]);
      return trade;
    },
  };
}

/** Moves all levels of a side on the price grid. Skips levels outside the price range and repeated prices. */
function moveLevels(
  { tick, bands }: ListedMarket,
  levels: readonly Level[],
  move: number,
  rounding: "down" | "up",
): Level[] {
  const moved = Math.round(move / tick) * tick;
  return levels
    .map((level) => ({ ...level, price: snapToBands(bands, level.price + moved, rounding) }))
    .filter(({ price }, index, all) => price >= tick && price <= 1 - tick && price !== all[index - 1]?.price);
}
