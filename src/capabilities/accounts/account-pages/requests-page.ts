import { type Html, html, type Page, renderTable } from "../../../http/html/index.ts";
import { RECENT_REQUESTS_MAX, REQUEST_RETENTION_DAYS, type RecentRequest } from "../activity/index.ts";
import type { KeyView } from "../customers/index.ts";
import { createSignedInPage } from "./account-layout.ts";
import type { FormSecrets } from "./fields.ts";
import { formatSecond } from "./format.ts";

const REQUESTS_PATH = "/account/requests";

/** The last requests, or only the failed ones. */
export function createRequestsPage(view: {
  readonly form: FormSecrets;
  readonly keys: readonly KeyView[];
  readonly requests: readonly RecentRequest[];
  readonly onlyFailed: boolean;
}): Page {
  const { form, keys, requests, onlyFailed } = view;
  const renderFilter = (name: string, url: string, isCurrent: boolean) =>
    html`<a href="${url}"${isCurrent ? html` aria-current="true"` : null}>${name}</a>`;
  return createSignedInPage({
    title: "Requests",
    current: REQUESTS_PATH,
    form,
    body: html`<section>
<p class="filter">${renderFilter("All", REQUESTS_PATH, !onlyFailed)} ${renderFilter("Errors", `${REQUESTS_PATH}?only=errors`, onlyFailed)}</p>
${
  requests.length === 0
    ? html`<p>${onlyFailed ? "No errors" : "No requests"} in the last ${REQUEST_RETENTION_DAYS} days.</p>`
    : renderRequestTable(requests, keys)
}
<p class="faint small">Your last ${RECENT_REQUESTS_MAX} ${onlyFailed ? "failed " : null}requests with an API key in the last ${REQUEST_RETENTION_DAYS} days. Times are in UTC. This list contains neither parameters, such as market IDs, nor IP addresses. Include the request ID when you contact support.</p>
</section>`,
  });
}

export function renderRequestTable(requests: readonly RecentRequest[], keys: readonly KeyView[]): Html {
  const nameOf = (keyId: string): string => keys.find((key) => key.keyId === keyId)?.name ?? "deleted key";
  return html`<div class="dense">${renderTable(
    ["Time", "Endpoint", "Status", "Duration", "Key", "Request ID"],
    requests.map((request) => ({
      cells: [
        html`<span class="nowrap">${formatSecond(request.occurredAt)}</span>`,
        html`<code>${request.method} ${formatRoute(request.route)}</code>`,
        html`<span class="${request.status >= 400 ? "status failed" : "status"}">${request.status}</span>${request.code === null ? null : html` <code>${request.code}</code>`}`,
        html`<span class="nowrap">${formatMilliseconds(request.durationMs)} ms</span>`,
        nameOf(request.keyId),
        html`<code class="id">${request.requestId}</code>`,
      ],
    })),
  )}</div>`;
}

/** @example formatRoute("/v1/markets/:platform/:market_id") // "/v1/markets/{platform}/{market_id}" */
const formatRoute = (route: string): string => route.replace(/:(\w+)/g, "{$1}");

/** Two significant digits below 10 ms, because responses from memory take fractions of a millisecond. */
const formatMilliseconds = (value: number): string =>
  value < 10 ? String(Number(value.toPrecision(2))) : String(Math.round(value));
