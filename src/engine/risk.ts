import { HOUR_MS } from "../lib/durations.ts";
import type { Estimate } from "./estimate.ts";
import { formatPercent, formatPrice } from "./format.ts";
import type { MarketView } from "./model.ts";
import { positiveSpreadOf } from "./reference-price.ts";

export type RiskRating = "low" | "medium" | "high";

const WIDE_INTERVAL = 0.2;
const VERY_WIDE_INTERVAL = 0.4;
const SHORT_TIME_MS = 24 * HOUR_MS;
const WIDE_SPREAD = 0.05;
const THIN_USD = 1_000;
const OLD_QUOTE_MS = HOUR_MS;

interface Risk {
  readonly points: number;
  readonly sentence: string;
}

/**
 * Rates the risk of acting on an estimate by points: 0 is low, 1 or 2 medium, more is high. One point each: an interval
 * wider than 0.2 (two points above 0.4), less than a day until the market closes, no two-sided order book or a spread
 * above 0.05, liquidity and volume below $1,000 or unknown, a price that was not confirmed for an hour.
 */
export function assessRisk(view: MarketView, estimate: Estimate): { rating: RiskRating; sentences: string[] } {
  const risks = [intervalRisk(estimate), timeRisk(view), spreadRisk(view), depthRisk(view), ageRisk(view)].filter(
    (risk) => risk !== null,
  );
  const points = risks.reduce((sum, risk) => sum + risk.points, 0);
  return {
    rating: points === 0 ? "low" : points <= 2 ? "medium" : "high",
    sentences: risks.map(({ sentence }) => sentence),
  };
}

function intervalRisk({ interval: { low, high } }: Estimate): Risk | null {
  const width = high - low;
  if (width <= WIDE_INTERVAL) return null;
  const sentence = `The 80% interval is wide: ${formatPercent(low)}% to ${formatPercent(high)}%.`;
  return { points: width > VERY_WIDE_INTERVAL ? 2 : 1, sentence };
}

function timeRisk({ closeAt, asOf }: MarketView): Risk | null {
  if (closeAt === null || closeAt - asOf >= SHORT_TIME_MS) return null;
  const hours = Math.max(0, (closeAt - asOf) / HOUR_MS);
  return { points: 1, sentence: `The market closes in ${hours.toFixed(1)} hours.` };
}

function spreadRisk({ quote }: MarketView): Risk | null {
  const spread = positiveSpreadOf(quote);
  if (spread === null) return { points: 1, sentence: "The order book is not two-sided, so the price is uncertain." };
  if (spread <= WIDE_SPREAD) return null;
  return { points: 1, sentence: `The spread is wide: ${formatPrice(spread)}.` };
}

function depthRisk({ activity }: MarketView): Risk | null {
  const usd = Math.max(activity?.liquidityUsd ?? 0, activity?.volume24hUsd ?? 0);
  if (usd >= THIN_USD) return null;
  const isUnknown = activity === null || (activity.liquidityUsd === null && activity.volume24hUsd === null);
  return {
    points: 1,
    sentence: isUnknown
      ? "Liquidity and volume are unknown."
      : `The market is thin: the larger of liquidity and 24-hour volume is $${Math.round(usd)}.`,
  };
}

function ageRisk({ quote, asOf }: MarketView): Risk | null {
  if (quote === null) return { points: 1, sentence: "There is no current quote." };
  const ageMs = asOf - quote.at;
  if (ageMs <= OLD_QUOTE_MS) return null;
  return { points: 1, sentence: `The price was last confirmed ${(ageMs / HOUR_MS).toFixed(1)} hours ago.` };
}
