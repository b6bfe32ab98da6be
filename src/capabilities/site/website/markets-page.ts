import { type Html, html, type Page } from "../../../http/html/index.ts";
import { isObject } from "../../../lib/is-object.ts";
import { formatVenue, joinNames } from "./format.ts";
import { type ListedMarket, renderMarketTable } from "./market-table.ts";
import { CATEGORY_LENGTH_MAX, type MarketSort, SEARCH_LENGTH_MAX, SORT_NAMES } from "./schema.ts";
import { WEBSITE_STYLES } from "./styles.ts";

/** The values of the filter form; empty strings select everything. */
export interface MarketFilters {
  readonly q: string;
  readonly venue: string;
  readonly category: string;
  readonly sort: MarketSort;
}

type FieldName = keyof MarketFilters | "cursor";

export interface MarketsView {
  readonly filters: MarketFilters;
  /** Error messages by field; empty if the request is valid. */
  readonly errors: Partial<Readonly<Record<FieldName, string>>>;
  readonly venues: readonly string[];
  /** The categories that the form offers. */
  readonly categories: readonly string[];
  readonly markets: readonly ListedMarket[];
  /** Whether this page follows an earlier one. */
  readonly isContinued: boolean;
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null;
  /** Whether the service has read no market yet. */
  readonly isStarting: boolean;
}

export function createMarketsPage(view: MarketsView): Page {
  const venueNames = joinNames(view.venues.map(formatVenue));
  return {
    title: "Markets",
    description: `Open prediction markets on ${venueNames}: prices, 24-hour change and volume.`,
    path: "/markets",
    section: "markets",
    head: WEBSITE_STYLES,
    body: html`${renderFilterForm(view)}
${Object.keys(view.errors).length > 0 ? html`<p><a href="/markets">Show all markets</a></p>` : renderResults(view)}`,
  };
}

function renderFilterForm({ filters, errors, venues, categories }: MarketsView): Html {
  const { q, venue, category, sort } = filters;
  const offeredCategories = category === "" || categories.includes(category) ? categories : [category, ...categories];
  return html`<form method="get" action="/markets" class="filters" role="search" aria-label="Markets">
${errors.cursor === undefined ? null : html`<p class="warn" role="alert">${errors.cursor}</p>`}
<div class="wide"><label for="q">Search</label>
<input id="q" name="q" type="search" maxlength="${SEARCH_LENGTH_MAX}" value="${q}" placeholder="Words in the title"${describeError("q", errors)}>
${renderError("q", errors)}</div>
${renderSelect("venue", "Venue", venue, [["", "All"], ...venues.map((id) => [id, formatVenue(id)] as const)], errors)}
${renderSelect("category", "Category", category, [["", "All"], ...offeredCategories.map((name) => [name, name] as const)], errors)}
${renderSelect("sort", "Sort by", sort, Object.entries(SORT_NAMES), errors)}
<div><button type="submit">Show</button></div>
</form>`;
}

const describeError = (name: FieldName, errors: MarketsView["errors"]): Html | null =>
  errors[name] === undefined ? null : html` aria-invalid="true" aria-describedby="${name}-error"`;

const renderError = (name: FieldName, errors: MarketsView["errors"]): Html | null =>
  errors[name] === undefined ? null : html`<p class="warn small" id="${name}-error" role="alert">${errors[name]}</p>`;

function renderSelect(
  name: FieldName,
  label: string,
  selected: string,
  options: readonly (readonly [value: string, text: string])[],
  errors: MarketsView["errors"],
): Html {
  return html`<div><label for="${name}">${label}</label>
<select id="${name}" name="${name}"${describeError(name, errors)}>
${options.map(([value, text]) => html`<option value="${value}"${value === selected ? html` selected` : null}>${text}</option>`)}
</select>
${renderError(name, errors)}</div>`;
}

function renderResults(view: MarketsView): Html {
  if (view.markets.length === 0) return renderEmptyState(view);
  return html`<section>
${renderMarketTable(view.markets, "Open markets")}
<nav class="pages" aria-label="Pages">
${view.isContinued ? html`<a href="${buildListPath(view.filters, null)}">First page</a>` : null}
${view.next === null ? html`<span class="faint">End of the list</span>` : html`<a class="button quiet" rel="next" href="${buildListPath(view.filters, view.next)}">Next page</a>`}
</nav>
</section>`;
}

function renderEmptyState({ isStarting, isContinued }: MarketsView): Html {
  if (isStarting)
    return html`<section>
<h2>No markets yet</h2>
<p>The service is reading the venues. Reload this page in a few seconds.</p>
</section>`;
  if (isContinued)
    return html`<section>
<h2>No more markets</h2>
<p><a href="/markets">Show all markets</a></p>
</section>`;
  return html`<section>
<h2>No open market matches</h2>
<p>Every word of the search must occur in the title of the market or of its event. Try fewer words or another venue.</p>
<p><a href="/markets">Show all markets</a></p>
</section>`;
}

/** Path of the list with these filters. Values that select everything are omitted. */
function buildListPath({ q, venue, category, sort }: MarketFilters, cursor: string | null): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ q, venue, category, cursor: cursor ?? "" }))
    if (value !== "") parameters.set(name, value);
  if (sort !== "volume_24h") parameters.set("sort", sort);
  return parameters.size === 0 ? "/markets" : `/markets?${parameters}`;
}

/** Returns a submitted filter for display, truncated to the maximum length of its field. */
export const readFilter = (query: unknown, name: string): string => {
  const value = isObject(query) ? query[name] : undefined;
  return typeof value === "string" ? value.slice(0, name === "category" ? CATEGORY_LENGTH_MAX : SEARCH_LENGTH_MAX) : "";
};
