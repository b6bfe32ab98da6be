import type { DocumentedCode } from "./model.ts";

interface ErrorDescription {
  /** What happened. */
  readonly meaning: string;
  /** What the caller should do. */
  readonly action: string;
  /** Example of the field `detail`. Other properties are examples of further fields of the body. */
  readonly detail: unknown;
  readonly [field: string]: unknown;
}

/** The action for temporary errors. */
const RETRY_SOON = "Retry after the number of seconds in `Retry-After`.";
const RETRY_SAME_PAYMENT = "Send the same payment again. Never sign a new one for this call.";

/** Every error code in the order of its status. The compiler reports a code without a description. */
export const ERROR_DESCRIPTIONS: Readonly<Record<DocumentedCode, ErrorDescription>> = {
  bad_request: {
    meaning: "The request is not valid HTTP, or its URL has a malformed percent-encoding.",
    action: "Correct the request. Repeating it does not help.",
    detail: "The URL contains a malformed percent-encoding",
  },
  malformed_payment: {
    meaning: "The payment header cannot be decoded.",
    action: "Correct the client. Nothing is charged.",
    detail: "The payment header is malformed: not base64-encoded JSON",
  },
  unauthorized: {
    meaning: "The API key is missing, unknown or revoked.",
    action: "Send an active key in the header `Authorization: Bearer`.",
    detail: "Invalid or expired API key",
  },
  payment_required: {
    meaning: "The call has neither an API key nor a valid payment. The body contains the price.",
    action: "Send an API key, or sign the payment requirements in the response. Nothing is charged.",
    detail: "Send an API key, or pay for this call.",
    x402Version: 1,
    error: "payment_required",
    accepts: [
      {
        scheme: "exact",
        network: "base",
        maxAmountRequired: "10000",
        resource: "https://api.example.org/v1/markets",
        description: "GET /v1/markets",
        mimeType: "application/json",
        outputSchema: null,
        payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        maxTimeoutSeconds: 60,
        asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        extra: { name: "USD Coin", version: "2" },
      },
    ],
  },
  account_required: {
    meaning: "The endpoint needs an account of this service. Callers who pay per request have none.",
    action: "Send an API key of an account.",
    detail: "This endpoint needs an account of this service",
  },
  plan_required: {
    meaning: "The key is valid, but its plan does not include the endpoint.",
    action: "Upgrade the plan. `detail` contains the link.",
    detail: "This endpoint needs the pro plan. Upgrade: https://api.example.org/pricing",
  },
  bot_check_failed: {
    meaning: "The bot check of the sign-up failed.",
    action: "Get a new Turnstile token and sign up again. A token works once.",
    detail: "The bot check failed: get a new token and try again",
  },
  cross_site_refused: {
    meaning: "A form of a page was submitted from another site or session.",
    action: "Reload the page and submit the form again.",
    detail: "This form belongs to another session: reload its page and try again",
  },
  proof_required: {
    meaning: "The account page changes keys only after a recent proof of identity.",
    action: "Sign in again, or enter an active key of the account.",
    detail: "Confirm that it is you before you change keys, then try again",
  },
  market_not_found: {
    meaning: "The venue has no market with this id.",
    action: "Read the id from `GET /v1/markets`, and percent-encode it in the path.",
    detail: "There is no such market on this venue",
  },
  event_not_found: {
    meaning: "There is no event with this slug.",
    action: "Read the slug from `GET /v1/events`, or from `event_slug` of a market.",
    detail: "There is no such event",
  },
  analysis_not_found: {
    meaning: "There is no analysis with this id, or none of the market or the event.",
    action:
      "Start one with `POST /v1/markets/{platform}/{market_id}/analyze` or `POST /v1/events/{slug}/analyze`. Ids are kept for 30 days.",
    detail: "This market has not been analysed yet",
  },
  not_found: {
    meaning: "The path does not exist.",
    action: "Compare the path with this reference.",
    detail: "Not Found",
  },
  customer_not_found: {
    meaning: "The customer does not exist. Only the operator's command returns this error.",
    action: "Check the id or the e-mail address.",
    detail: "There is no such customer",
  },
  key_not_found: {
    meaning: "Your account has no active key with this id.",
    action: "Read the id from `GET /v1/customers/me/keys`.",
    detail: "There is no such active key",
  },
  webhook_not_found: {
    meaning: "Your account has no webhook with this id.",
    action: "Read the id from `GET /v1/webhooks`.",
    detail: "Your account has no webhook with this id",
  },
  verification_not_found: {
    meaning: "The verification link was used, was replaced by a newer one, or has expired.",
    action: "Sign up again to receive another e-mail.",
    detail: "This link is invalid: it has been used or replaced, or it has expired",
  },
  method_not_allowed: {
    meaning: "The path exists, but not with this method.",
    action: "Use a method from the header `Allow`.",
    detail: "Method Not Allowed",
  },
  payment_in_progress: {
    meaning: "Another request with the same payment is being processed.",
    action: "Send the same payment again after the number of seconds in `Retry-After`.",
    detail: "This payment is being processed. Send the same payment again to get the response.",
  },
  email_taken: {
    meaning: "An account with this e-mail address exists.",
    action: "Sign in on the account page, or use another address.",
    detail: "An account with this e-mail address exists",
  },
  key_name_taken: {
    meaning: "An active key of your account has this name.",
    action: "Choose another name, or rotate that key.",
    detail: "An active key already has this name: choose another name, or rotate that key",
  },
  key_limit_reached: {
    meaning: "Your account has the maximum number of active keys.",
    action: "Revoke a key first.",
    detail: "At most 10 keys can be active: revoke one first",
  },
  ambiguous_query: {
    meaning:
      "The text fits several open questions within 0.05 of score. The body lists at most ten of their markets, best first.",
    action:
      "Add the month, the number or the name that tells them apart, or send `market_id`. The call is not counted.",
    detail:
      'Several open markets match "Fed cut". Add the words, month or number that tells them apart, or send market_id.',
    candidates: [
      { platform: "venue_a", market_id: "FED-MAR", title: "Will the Fed cut rates in March?", score: 0.84 },
      { platform: "venue_a", market_id: "FED-JUN", title: "Will the Fed cut rates in June?", score: 0.84 },
    ],
  },
  not_executable: {
    meaning:
      "The whole order cannot be bought now: the market is not open, its order book is too small or missing, the order is below the market's smallest one, the fee is unknown, or the price is too old.",
    action:
      "Read the reason in `detail`; it names the smallest `size_usd` of an order that is too small. Change the size, or try again later. Nothing is stored.",
    detail: "The order book offers only $41.20 of this side",
  },
  trade_limit_reached: {
    meaning: "Your account has the maximum number of paper trades.",
    action: "Wait until old trades are deleted, two years after their entry.",
    detail: "An account has at most 10000 paper trades",
  },
  webhook_limit_reached: {
    meaning: "Your account has the maximum number of webhooks.",
    action: "Delete a webhook first.",
    detail: "An account has at most 10 webhooks: delete one first",
  },
  body_too_large: {
    meaning: "The request body is too large.",
    action: "Send a smaller body.",
    detail: "The request body is larger than this service accepts",
  },
  unsupported_media_type: {
    meaning: "The request body is not JSON, or it is compressed.",
    action: "Send JSON with the header `Content-Type: application/json`.",
    detail: "Send the body as application/json",
  },
  invalid_request: {
    meaning: "A parameter or a body field is missing or invalid. The body lists every error and has no `code`.",
    action: "Correct each field that `loc` names.",
    detail: [
      {
        type: "less_than_equal",
        loc: ["query", "limit"],
        msg: "Input should be less than or equal to 100",
        input: "1000",
        ctx: { le: 100 },
      },
    ],
  },
  rate_limited: {
    meaning: "You sent too many requests in the last minute, or too many sign-ups in the last hour.",
    action: RETRY_SOON,
    detail: "Rate limit exceeded. Retry after 14 seconds.",
  },
  quota_exceeded: {
    meaning: "The monthly quota of the tier is used up.",
    action:
      "Wait for the date in `resets_on`, or upgrade the plan. `Retry-After` contains the same date, or the seconds until then if the operator has set this.",
    detail: "LISTING quota used: 100/100. Resets 2026-12-01. Upgrade: https://api.example.org/pricing",
    resets_on: "2026-12-01",
    retry_after_seconds: 691_200,
  },
  internal_error: {
    meaning: "The service failed unexpectedly.",
    action: "Retry with increasing delays. If it continues, report the response header `x-request-id`.",
    detail: "Internal Server Error",
  },
  venue_unavailable: {
    meaning: "The venue cannot be reached, or it has no price for this market at present.",
    action: "Retry after a minute. `GET /v1/health` shows the state of each venue.",
    detail: "The venue cannot be reached at the moment",
  },
  venue_busy: {
    meaning:
      "The requests that this service may send to the venue are used up at present. Callers take turns, whatever the number of their requests.",
    action: "Retry after the time in the `Retry-After` header.",
    detail: "The requests that this venue permits are used up at present",
  },
  analysis_failed: {
    meaning: "The analysis that the response needs ended without a result.",
    action: "Retry later. The call is not counted.",
    detail: "The analysis failed 5 times. Please request it again later.",
  },
  store_unavailable: {
    meaning: "The database is unavailable. Calls that only need current prices continue to work.",
    action: RETRY_SOON,
    detail: "Calls cannot be counted at the moment.",
  },
  read_only: {
    meaning: "This process checks a backup: it answers only GET requests.",
    action: "Send the request to the running service.",
    detail: "This process is read-only, because it checks a backup",
  },
  payment_unavailable: {
    meaning: "The payment could not be verified. Nothing is charged.",
    action: RETRY_SAME_PAYMENT,
    detail: "The payment cannot be verified at the moment. Send it again.",
  },
  settlement_unknown: {
    meaning: "It is not known yet whether the payment was charged.",
    action: RETRY_SAME_PAYMENT,
    detail: "It is not yet known whether the payment was settled. Send the same payment again.",
  },
  signup_not_configured: {
    meaning: "The operator has not enabled sign-up on this server.",
    action: "Ask the operator for a key.",
    detail: "Sign-up is not configured on this server",
  },
  bot_check_unavailable: {
    meaning: "The bot check of the sign-up cannot be reached.",
    action: RETRY_SOON,
    detail: "The bot check is temporarily unavailable; try again in a moment",
  },
  mail_unavailable: {
    meaning: "The server cannot send e-mail at present.",
    action: RETRY_SOON,
    detail: "E-mail is temporarily unavailable; try again later",
  },
  overloaded: {
    meaning: "Too many large computations or analyses are waiting.",
    action: RETRY_SOON,
    detail: "Too many large computations are waiting; try again later",
  },
  too_many_connections: {
    meaning: "Too many connections are open, in total or from your address.",
    action: "Reuse connections, and close those that you do not need.",
    detail: "Too many connections are open from this address",
  },
  starting: {
    meaning: "The process has just started and is reading the venues.",
    action: RETRY_SOON,
    detail: "Starting: the first sweep of the venues is running",
  },
  draining: {
    meaning: "The process is shutting down.",
    action: RETRY_SOON,
    detail: "Shutting down",
  },
};

/** Returns an example of the body of an error. */
export function createErrorBody(code: DocumentedCode): Readonly<Record<string, unknown>> {
  const { meaning: _meaning, action: _action, detail, ...fields } = ERROR_DESCRIPTIONS[code];
  return code === "invalid_request" ? { detail } : { detail, code, ...fields };
}
