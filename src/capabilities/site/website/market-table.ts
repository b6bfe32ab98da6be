import { type BoardEvent, type BoardMarket, priceChange24h } from "../../../board/index.ts";
import { validCloseTime, validExpectedTime } from "../../../domain/close-time.ts";
import { type Html, html } from "../../../http/html/index.ts";
import { formatChange, formatDate, formatPrice, formatUsd, formatVenue, truncate } from "./format.ts";
import type { Period } from "./schema.ts";

/** Maximum length of a title; venues allow titles of any length. */
export const TITLE_LENGTH_MAX = 240;

/** Id of the section with our estimate on the page of a market. */
export const ESTIMATE_SECTION_ID = "estimate";
/** The form that starts an analysis is submitted to the path of the market with this suffix. */
export const ANALYSE_PATH_SUFFIX = "/analyze";

/** A market and the event that contains it, if any. */
export interface ListedMarket {
  readonly market: BoardMarket;
  readonly event: BoardEvent | null;
}

/** Path of a market's page and, after `/v1`, of the market in the API. It is safe in a double-quoted shell string. */
export const buildMarketPath = ({ listing: { venue, marketId } }: BoardMarket): string =>
  `/markets/${encodeSegment(venue)}/${encodeSegment(marketId)}`;

/** Path of a market's page that reports on a run. */
export const buildRunPath = (market: BoardMarket, period: Period, analysisId: string): string =>
  `${buildMarketPath(market)}?period=${period}&analysis=${analysisId}`;

const encodeSegment = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );

export const marketTitle = ({ listing }: BoardMarket): string => truncate(listing.title, TITLE_LENGTH_MAX);

/** When trading ends or, if that is unknown, when the result is expected. Unix milliseconds. */
const closeTime = ({ listing, updatedAt }: BoardMarket): number | null =>
  validCloseTime(listing, updatedAt) ?? validExpectedTime(listing, updatedAt);

const NUMBER_COLUMNS = ["Yes price", "24 h change", "24 h volume"] as const;

/**
 * Renders markets as a table; on narrow screens each row becomes a block. The ARIA roles are explicit for the same
 * reason as in `renderTable`.
 */
export function renderMarketTable(markets: readonly ListedMarket[], caption: string): Html {
  return html`<table class="markets" role="table">
<caption class="visually-hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Market</th><th role="columnheader" scope="col">Venue</th>${NUMBER_COLUMNS.map((name) => html`<th role="columnheader" scope="col" class="number">${name}</th>`)}<th role="columnheader" scope="col" class="number">Closes</th></tr></thead>
<tbody role="rowgroup">
${markets.map(renderRow)}
</tbody>
</table>`;
}

function renderRow({ market }: ListedMarket): Html {
  const change = priceChange24h(market);
  return html`<tr role="row">
<td role="cell" class="title"><a href="${buildMarketPath(market)}" dir="auto">${marketTitle(market)}</a></td>
<td role="cell" class="venue">${formatVenue(market.listing.venue)}</td>
<td role="cell" class="number price">${formatPrice(market.yesPrice)}</td>
<td role="cell" class="number change ${priceChangeClass(change)}">${formatChange(change)}</td>
<td role="cell" class="number volume">${formatUsd(market.activity.volume24hUsd)}</td>
<td role="cell" class="number closes">${formatDate(closeTime(market))}</td>
</tr>`;
}

/** CSS class of a rising or falling price. */
export function priceChangeClass(change: number | null): string {
  if (change === null || change === 0) return "faint";
  return change > 0 ? "up" : "down";
}
