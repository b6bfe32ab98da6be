import { COPY_SCRIPTS, type Html, html, type Page, renderCode } from "../../../http/html/index.ts";
import type { HealthReport } from "../../operations/health/index.ts";
import { formatInteger, formatSecond, formatVenue, joinNames } from "./format.ts";
import { type ListedMarket, renderMarketTable } from "./market-table.ts";
import { WEBSITE_STYLES } from "./styles.ts";

/** Maximum length of the displayed JSON example, because venues allow texts of any length. */
const EXAMPLE_LENGTH_MAX = 2_000;

export interface LandingView {
  /** Scheme and host of the service, as the visitor reaches it. */
  readonly origin: string;
  /** The public key of a sandbox; null on a live server. */
  readonly demoKey: string | null;
  /** The venues that clients can query. */
  readonly venues: readonly string[];
  readonly health: HealthReport;
  /** The most traded markets, the most traded first. */
  readonly markets: readonly ListedMarket[];
  /** The most traded market as the API returns it; null if there is none. */
  readonly example: unknown;
  readonly freeCallsPerMonth: number;
  readonly acceptsPayments: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

export function createLandingPage(view: LandingView): Page {
  const venueNames = joinNames(view.venues.map(formatVenue));
  return {
    title: "Prediction markets in one API",
    description: `Live prices, events and price history of ${venueNames} in one format, over one HTTP API.`,
    path: "/",
    head: WEBSITE_STYLES,
    scripts: COPY_SCRIPTS,
    heading: html`<div class="hero">
<div>
<p class="eyebrow">Prediction-market data for developers and traders</p>
<h1>Prediction markets in one API</h1>
<p class="lead">Parallax reads ${venueNames} around the clock and serves their markets in one format: bid, ask and last price, volume, price history and resolution, each price with the time it was confirmed.</p>
<p>Use it to compare prices across venues, to follow events, or to feed a model or a bot.</p>
<p class="actions"><a class="button" href="/account">Get an API key</a> <a class="button quiet" href="/docs">Read the docs</a></p>
</div>
${renderExample(view)}
</div>`,
    body: html`${renderVenues(view)}
${renderLiveMarkets(view)}
${renderFeatures(view)}
<section class="call">
<div><h2>Start with the free plan</h2>
<p>${formatInteger(view.freeCallsPerMonth)} calls per month, no card. Paid plans have higher limits.</p></div>
<p class="actions"><a class="button" href="/account">Get an API key</a> <a class="button quiet" href="/pricing">See pricing</a></p>
</section>`,
  };
}

/** Renders a request that works as pasted in a sandbox; elsewhere the reader inserts a key. */
function renderExample({ origin, demoKey, example }: LandingView): Html {
  const json = example === null ? null : JSON.stringify([example], null, 2);
  return html`<div class="example">
<h2>Try it</h2>
${renderCode("example-request", writeCurl(`${origin}/v1/markets?limit=1`, demoKey))}
${
  demoKey === null
    ? html`<p class="small faint">Replace <code>YOUR_API_KEY</code> with your key. <a href="/account">Get a free key</a></p>`
    : html`<p class="small faint">The key is this sandbox’s demo key. It works as pasted.</p>`
}
${json === null || json.length > EXAMPLE_LENGTH_MAX ? null : html`<pre class="response" tabindex="0" role="region" aria-label="Response"><code>${json}</code></pre>`}
</div>`;
}

/** The shell command that requests a URL with a key. */
export function writeCurl(url: string, demoKey: string | null): string {
  return `curl "${url}" \\\n  -H "Authorization: Bearer ${demoKey ?? "YOUR_API_KEY"}"`;
}

const VENUE_STATUS_TEXTS = { starting: "Starting", ok: "Operational", degraded: "Degraded", down: "Down" } as const;

function renderVenues({ venues, health }: LandingView): Html {
  const reports = Object.entries(health.checks.venues).filter(([id]) => venues.includes(id));
  return html`<section class="venues" aria-label="Status of the venues">
${reports.map(
  ([id, { status, markets }]) => html`<div>
<strong>${formatVenue(id)}</strong>
<span class="status ${status}">${VENUE_STATUS_TEXTS[status]}</span>
<span class="faint small">${formatInteger(markets)} markets</span>
</div>`,
)}
</section>`;
}

function renderLiveMarkets({ markets, now }: LandingView): Html {
  const content =
    markets.length === 0
      ? html`<p>The service is reading the venues. Reload this page in a few seconds.</p>`
      : html`${renderMarketTable(markets, "The most traded open markets")}
<p class="table-foot"><span class="faint small">Prices at ${formatSecond(now)}. Reload for the latest.</span> <a href="/markets">All markets</a></p>`;
  return html`<section>
<h2>Most traded markets</h2>
${content}
</section>`;
}

function renderFeatures({ acceptsPayments }: LandingView): Html {
  return html`<section class="features" aria-labelledby="features-title">
<h2 id="features-title">What you get</h2>
<div>
<h3>One format for every venue</h3>
<p>Prices between 0 and 1, amounts in US dollars, times in UTC. A value that a venue does not publish is omitted, never set to zero.</p>
</div>
<div>
<h3>Every price has its time</h3>
<p>Streams and frequent polling keep prices current. <code>updated_at</code> tells when each was confirmed, and <a href="/v1/health">health</a> reports venues that fall behind.</p>
</div>
<div>
<h3>History and events</h3>
<p>Price and volume history of 48 hours, 7 days or 30 days, with bid and ask. Events group the markets of one question, and search finds them.</p>
</div>
<div>
<h3>Predictable limits</h3>
<p>Responses report your rate limit and remaining quota, failed requests are not counted, and errors have stable codes.${acceptsPayments ? html` Agents can pay per request without an account.` : null}</p>
</div>
<div>
<h3>Run it yourself</h3>
<p>Parallax is open source under Apache 2.0. One command starts it, and a sandbox with simulated venues makes your tests independent of the real ones.</p>
</div>
<div>
<h3>A public track record</h3>
<p>Every probability is compared with the result of its market and with the price at the same time. The <a href="/track-record">track record</a> shows all of them, including the wrong ones.</p>
</div>
</section>`;
}
