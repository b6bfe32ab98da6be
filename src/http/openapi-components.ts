import { STATUSES } from "./problem.ts";

export const BEARER_SCHEME = "bearer";
export const PAYMENT_SCHEME = "payment";
/** A request through an API marketplace has all of these headers. */
export const MARKETPLACE_SCHEMES = ["marketplace_secret", "marketplace_user", "marketplace_subscription"] as const;

const headerScheme = (name: string, description: string) => ({
  type: "apiKey" as const,
  in: "header" as const,
  name,
  description,
});

export const SECURITY_SCHEMES = {
  [BEARER_SCHEME]: { type: "http", scheme: "bearer", description: "An API key." },
  [PAYMENT_SCHEME]: headerScheme(
    "PAYMENT-SIGNATURE",
    "Pay for a single call (x402), if enabled by the operator. A 402 response contains the price.",
  ),
  marketplace_secret: headerScheme(
    "x-rapidapi-proxy-secret",
    "Secret that the API marketplace adds to the requests of its users, if enabled by the operator.",
  ),
  marketplace_user: headerScheme("x-rapidapi-user", "User name at the marketplace, added by the marketplace."),
  marketplace_subscription: headerScheme(
    "x-rapidapi-subscription",
    "The user's subscription at the marketplace, which decides the plan. Added by the marketplace.",
  ),
} as const satisfies Record<string, unknown>;

/** Default descriptions of successful responses. */
export const SUCCESS_DESCRIPTIONS: Readonly<Record<string, string>> = {
  201: "Created",
  202: "Accepted. Processing continues in the background.",
};

export const STATUS_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The request is malformed.",
  401: "The API key is missing or invalid.",
  402: "Payment is required. Returned only if pay per request is enabled.",
  403: "The caller is not allowed to make this request: the plan is too low, or the bot check failed.",
  404: "The resource does not exist.",
  409: "The request conflicts with the current state of the resource.",
  413: "The request body is too large.",
  415: "The request body is not JSON.",
  422: "The request is invalid.",
  429: "The rate limit or the monthly quota is exceeded.",
  500: "An internal error occurred.",
  502: "The upstream venue is unavailable.",
  503: "The service is temporarily unavailable.",
};

/** Response headers that operations reference. */
export const OPENAPI_HEADERS = {
  "Retry-After": {
    description:
      "Seconds to wait before the next request. For a monthly quota, the date on which it resets (ISO 8601), or the seconds until then if the operator has set `PARALLAX_RETRY_AFTER=seconds`. `retry_after_seconds` in the body is always in seconds.",
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description:
      "The caller's minute limit and monthly quota (IETF draft): name, `q` units, `w` window in seconds. The names in a response are distinct.",
    schema: { type: "string", examples: ['"general";q=300;w=60, "listing";q=10000'] },
  },
  RateLimit: {
    description:
      "The remaining minute limit and monthly quota: name, `r` remaining units, `t` seconds until the reset.",
    schema: { type: "string", examples: ['"general";r=299;t=0, "listing";r=9999;t=864000'] },
  },
  "PAYMENT-REQUIRED": {
    description:
      "The price of the call as base64-encoded JSON (x402 version 2). The body contains the version 1 format.",
    schema: { type: "string", contentEncoding: "base64", contentMediaType: "application/json" },
  },
  "PAYMENT-RESPONSE": {
    description: "The result of the payment as base64-encoded JSON. Version 1 clients receive X-PAYMENT-RESPONSE.",
    schema: { type: "string", contentEncoding: "base64", contentMediaType: "application/json" },
  },
} as const;

/** Schemas of error bodies. Those of validation errors equal FastAPI's, because generated clients depend on them. */
export const ERROR_SCHEMAS = {
  Problem: {
    type: "object",
    title: "Problem",
    properties: {
      detail: { type: "string", description: "A human-readable message." },
      code: { type: "string", enum: Object.keys(STATUSES), description: "A stable, machine-readable error code." },
      retry_after_seconds: { type: "number", minimum: 0 },
      resets_on: { type: "string", format: "date" },
      candidates: {
        type: "array",
        maxItems: 10,
        description: "Only with `ambiguous_query`: the markets that fit the text, best first.",
        items: {
          type: "object",
          properties: {
            platform: { type: "string" },
            market_id: { type: "string" },
            title: { type: "string" },
            score: { type: "number", minimum: 0, maximum: 1 },
          },
          required: ["platform", "market_id", "title", "score"],
        },
      },
      payment: {
        type: "object",
        description: "Set if the call was charged and failed. The same payment can be redeemed for one response.",
        properties: {
          settled: { type: "boolean" },
          transaction: { type: "string" },
          redeemable: { type: "boolean" },
        },
        required: ["settled", "transaction", "redeemable"],
      },
    },
    required: ["detail", "code"],
  },
  PaymentRequired: {
    title: "PaymentRequired",
    description:
      "The price of the call in the format of x402 version 1. The header PAYMENT-REQUIRED has the version 2 format.",
    allOf: [{ $ref: "#/components/schemas/Problem" }],
    type: "object",
    properties: {
      x402Version: { const: 1 },
      error: {
        type: "string",
        description: "The reason why the payment was rejected, or `payment_required` if none was sent.",
      },
      accepts: {
        type: "array",
        items: {
          type: "object",
          properties: {
            scheme: { const: "exact" },
            network: { type: "string" },
            maxAmountRequired: { type: "string", description: "Price in atomic units of the asset." },
            resource: { type: "string", format: "uri" },
            description: { type: "string" },
            mimeType: { type: "string" },
            outputSchema: { type: "null" },
            payTo: { type: "string" },
            maxTimeoutSeconds: { type: "integer" },
            asset: { type: "string", description: "Address of the token contract." },
            extra: {
              type: "object",
              properties: { name: { type: "string" }, version: { type: "string" } },
              required: ["name", "version"],
            },
          },
          required: [
            "scheme",
            "network",
            "maxAmountRequired",
            "resource",
            "payTo",
            "maxTimeoutSeconds",
            "asset",
            "extra",
          ],
        },
      },
    },
    required: ["x402Version", "error", "accepts"],
  },
  HTTPValidationError: {
    type: "object",
    title: "HTTPValidationError",
    properties: { detail: { type: "array", title: "Detail", items: { $ref: "#/components/schemas/ValidationError" } } },
  },
  ValidationError: {
    type: "object",
    title: "ValidationError",
    properties: {
      loc: { type: "array", title: "Location", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
      msg: { type: "string", title: "Message" },
      type: { type: "string", title: "Error Type" },
      input: { title: "Input" },
      ctx: { type: "object", title: "Context" },
    },
    required: ["loc", "msg", "type"],
  },
} as const;
