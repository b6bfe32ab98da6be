import { type BoardMarket, priceChange24h } from "../../../board/index.ts";
import { categoryOf } from "../../../domain/category.ts";
import { validCloseTime, validExpectedTime } from "../../../domain/close-time.ts";
import { type Outcome, settlementValueOf } from "../../../domain/market.ts";
import { spreadOf } from "../../../domain/price.ts";
import { COPY_SCRIPTS, type Html, html, type Page, renderCode } from "../../../http/html/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { PriceHistory } from "../../../storage/index.ts";
import { type EstimateView, renderEstimateSection } from "./estimate-section.ts";
import { formatChange, formatDate, formatDateTime, formatPrice, formatUsd, formatVenue, truncate } from "./format.ts";
import { writeCurl } from "./landing-page.ts";
import {
  buildMarketPath,
  buildRunPath,
  type ListedMarket,
  marketTitle,
  priceChangeClass,
  renderMarketTable,
  TITLE_LENGTH_MAX,
} from "./market-table.ts";
import { renderPriceChart } from "./price-chart.ts";
import { PERIODS, type Period } from "./schema.ts";
import { WEBSITE_STYLES } from "./styles.ts";

const RULES_LENGTH_MAX = 5_000;
/** Interval at which the page reloads itself while an analysis runs. */
const RELOAD_SECONDS = 5;
const PERIOD_MS: Readonly<Record<Period, number>> = { "48h": 48 * HOUR_MS, "7d": 168 * HOUR_MS, "30d": 720 * HOUR_MS };
const PERIOD_NAMES: Readonly<Record<Period, string>> = { "48h": "48 hours", "7d": "7 days", "30d": "30 days" };

export interface MarketView extends ListedMarket, EstimateView {
  readonly period: Period;
  /** Null if the history is not available at present. */
  readonly history: PriceHistory | null;
  /** Other markets of the same event, the most traded first. */
  readonly related: readonly ListedMarket[];
}

export function createMarketPage(view: MarketView): Page {
  const { market, event } = view;
  const { venue } = market.listing;
  const title = marketTitle(market);
  const path = buildMarketPath(market);
  const change = priceChange24h(market);
  const eventTitle = event === null ? null : truncate(event.listing.title, TITLE_LENGTH_MAX);
  return {
    title,
    description: `${title}: ${formatPrice(market.yesPrice)} on ${formatVenue(venue)}. Price history, bid and ask, volume and rules.`,
    path,
    section: "markets",
    head: html`${WEBSITE_STYLES}${renderReload(view)}`,
    scripts: COPY_SCRIPTS,
    heading: html`<nav class="breadcrumb small" aria-label="Breadcrumb"><a href="/markets">Markets</a> <span aria-hidden="true">/</span> <a href="/markets?venue=${encodeURIComponent(venue)}">${formatVenue(venue)}</a></nav>
<h1 dir="auto">${title}</h1>
${eventTitle === null || eventTitle === title ? null : html`<p class="faint event" dir="auto">${eventTitle}</p>`}
<p class="headline"><strong>${formatPrice(market.yesPrice)}</strong> Yes${change === null ? null : html` <span class="${priceChangeClass(change)}">${formatChange(change)}</span> <span class="faint">in 24 h</span>`}</p>`,
    body: html`${renderOutcome(view)}
<div class="market">
${renderHistorySection(view, path)}
${renderQuoteSection(view)}
</div>
${renderEstimateSection(view)}
${renderRules(market.listing.rules)}
${
  view.related.length === 0
    ? null
    : html`<section>
<h2>Other markets of this event</h2>
${renderMarketTable(view.related, "Other markets of this event")}
</section>`
}
${renderApiSection(view, path)}`,
  };
}

/**
 * Renders the element that reloads the page while an analysis runs. After a refusal there is none, because the reload would
 * remove the refusal before the visitor has read it. The URL is that of the form's redirect, so that the browser keeps the
 * scroll position. It has no fragment, because with one the browser would scroll instead of reloading.
 */
function renderReload({ run, refusal, period, market }: MarketView): Html | null {
  if (run?.status !== "running" || refusal !== null) return null;
  return html`<meta http-equiv="refresh" content="${RELOAD_SECONDS}; url=${buildRunPath(market, period, run.analysisId)}">`;
}

const OUTCOME_TEXTS: Readonly<Record<Outcome["kind"], string>> = {
  yes: "Settled: Yes",
  no: "Settled: No",
  partial: "Settled in part",
  void: "Void",
};

function renderOutcome({ market: { listing } }: MarketView): Html | null {
  const { outcome, resolvedAt, status } = listing;
  if (outcome === null) return null;
  const value = settlementValueOf(outcome);
  return html`<section class="notice outcome">
<p><strong>${OUTCOME_TEXTS[outcome.kind]}</strong>${value === null ? null : ` · a Yes contract pays ${formatPrice(value)}`}${resolvedAt === null ? null : ` · ${formatDateTime(resolvedAt)}`}${status === "finalized" ? null : " · not final"}</p>
</section>`;
}

function renderHistorySection({ history, period, market: { listing } }: MarketView, path: string): Html {
  const settledAt = listing.outcome === null ? null : listing.resolvedAt;
  const fromMs = (history?.generatedAt ?? 0) - PERIOD_MS[period];
  const span = {
    fromMs,
    toMs: Math.min(history?.generatedAt ?? 0, settledAt ?? Number.POSITIVE_INFINITY),
    isSettled: settledAt !== null,
    name: PERIOD_NAMES[period],
  };
  const chart = history === null ? null : renderPriceChart(history.points, span);
  const emptyText =
    history === null
      ? "The price history is not available at the moment. Reload this page in a few seconds."
      : settledAt !== null && settledAt < fromMs
        ? `The market was settled on ${formatDate(settledAt)}, before the last ${PERIOD_NAMES[period]}.`
        : `No prices are known for the last ${PERIOD_NAMES[period]}.`;
  return html`<section class="history" aria-labelledby="history-title">
<div class="section-head"><h2 id="history-title">Price history</h2>
<nav class="periods small" aria-label="Period">${PERIODS.map((name) => html`<a href="${name === "7d" ? path : `${path}?period=${name}`}"${name === period ? html` aria-current="true"` : null}>${name}</a>`)}</nav></div>
${chart ?? html`<p class="faint">${emptyText}</p>`}
</section>`;
}

const STATUS_TEXTS = {
  pending: "Not open yet",
  active: "Open",
  closed: "Closed, no result yet",
  determined: "Result proposed",
  finalized: "Settled",
} as const;

function renderQuoteSection(view: MarketView): Html {
  const { listing, quote, activity, updatedAt } = view.market;
  const { bid, ask } = quote;
  const category = categoryOf(listing.category ?? view.event?.listing.category ?? null);
  const spread = spreadOf(bid, ask);
  const isOpen = listing.status === "active";
  const status = isOpen && listing.paused ? "Open, trading paused" : STATUS_TEXTS[listing.status];
  return html`<section class="quote" aria-labelledby="quote-title">
<h2 id="quote-title">Quote</h2>
<dl>
<dt>Bid</dt><dd>${formatPrice(bid)}</dd>
<dt>Ask</dt><dd>${formatPrice(ask)}</dd>
<dt>Spread</dt><dd>${formatPrice(spread)}</dd>
<dt>Last trade</dt><dd>${formatPrice(quote.lastPrice)}</dd>
<dt>24 h volume</dt><dd>${formatUsd(activity.volume24hUsd)}</dd>
<dt>Liquidity</dt><dd>${formatUsd(activity.liquidityUsd)}</dd>
<dt>Open interest</dt><dd>${formatUsd(activity.openInterestUsd)}</dd>
<dt>Status</dt><dd>${status}</dd>
<dt>${isOpen ? "Closes" : "Closed"}</dt><dd>${formatDate(validCloseTime(listing, updatedAt))}</dd>
${renderResultTime(view.market)}
<dt>Category</dt><dd>${category ?? "–"}</dd>
<dt>${isOpen ? "Price confirmed" : "Last read"}</dt><dd>${formatDateTime(updatedAt)}</dd>
</dl>
${renderVenueLink(listing.venue, listing.url)}
</section>`;
}

/** When the market was settled, or when its result is expected. */
function renderResultTime({ listing, updatedAt }: BoardMarket): Html {
  if (listing.outcome !== null && listing.resolvedAt !== null)
    return html`<dt>Settled</dt><dd>${formatDate(listing.resolvedAt)}</dd>`;
  return html`<dt>Result expected</dt><dd>${formatDate(validExpectedTime(listing, updatedAt))}</dd>`;
}

/** Links to the market's page at its venue, if the venue's URL is an https URL. */
function renderVenueLink(venue: string, url: string | null): Html | null {
  const target = url === null ? null : URL.parse(url);
  if (target?.protocol !== "https:" || target.username !== "" || target.password !== "") return null;
  return html`<p class="venue-link"><a class="button quiet" href="${target.href}" rel="noopener noreferrer nofollow">View on ${formatVenue(venue)}</a></p>`;
}

/** Rules are displayed as text: nothing in them becomes a link. */
function renderRules(rules: string | null): Html | null {
  if (rules === null || rules.trim() === "") return null;
  return html`<section>
<h2>Rules</h2>
<div class="rules" dir="auto">${truncate(rules.trim(), RULES_LENGTH_MAX)}</div>
</section>`;
}

function renderApiSection({ origin, demoKey, market }: MarketView, path: string): Html {
  return html`<section>
<h2>This market in the API</h2>
${renderCode("market-request", writeCurl(`${origin}/v1${path}`, demoKey))}
<p class="small faint">Market id: <code>${truncate(market.listing.marketId, TITLE_LENGTH_MAX)}</code>. ${demoKey === null ? html`<a href="/account">Get an API key</a>` : "The key is this sandbox’s demo key."}</p>
</section>`;
}
