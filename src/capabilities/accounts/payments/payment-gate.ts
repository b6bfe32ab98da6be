import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import type { Principal } from "../../../http/auth.ts";
import type { PaymentGate } from "../../../http/payment-gate.ts";
import { COMMON_HEADER_NAMES, prepareProblem, toProblem } from "../../../http/problem.ts";
import { describeError } from "../../../http/request-log.ts";
import { isInPieces } from "../../../http/response/pieces.ts";
import type { Log } from "../../../ports/log.ts";
import type { AddressLimits } from "../metering/index.ts";
import {
  type Payment,
  type PaymentAsset,
  PaymentRejectedError,
  payerCustomerId,
  type RoutePrice,
  type Settlement,
  type StoredResponse,
} from "./model.ts";
import { formatRequirements, networkNameV1 } from "./requirements.ts";
import { parsePaymentHeader } from "./schema.ts";
import type { PaymentService } from "./service.ts";
import type { PaidRun } from "./settlement.ts";

/** Maximum length of the request path in the payment requirements. */
const RESOURCE_LENGTH_MAX = 500;
/** Headers that depend on the connection or the time of the response. They are not stored with a response. */
const TRANSIENT_HEADERS_PATTERN =
  /^(?:date|connection|content-length|keep-alive|transfer-encoding|ratelimit.*|retry-after)$/;
const ACCOUNT_REQUIRED_DETAIL = "This endpoint needs an account of this service";

/** The state of one paid request, shared by the hooks. */
interface PaidCall {
  readonly payment: Payment;
  readonly price: RoutePrice;
  /** Set by `admit` unless it replays a stored response; `complete` sets it to null again. */
  run: PaidRun | null;
}

export interface PaymentGateOptions {
  readonly service: PaymentService;
  readonly publicUrl: string;
  readonly log: Log;
  readonly addresses: Pick<AddressLimits, "takePayment" | "countRejectedPayment">;
}

/** The payment gate for x402, versions 1 and 2. */
export function createPaymentGate(options: PaymentGateOptions): PaymentGate {
  const { service, log, addresses } = options;
  const calls = new WeakMap<FastifyRequest, PaidCall>();

  /** Awaits a step. If the step rejects the payment, counts the rejection and throws the 402 error. */
  const mapRejection = async <Result>(
    request: FastifyRequest,
    call: Pick<PaidCall, "payment" | "price">,
    step: Promise<Result>,
  ) => {
    try {
      return await step;
    } catch (error) {
      if (!(error instanceof PaymentRejectedError)) throw error;
      addresses.countRejectedPayment(request.ip);
      throw createPaymentRequiredError(options, request, call.price, error, call.payment.version);
    }
  };

  const release = async (run: PaidRun): Promise<void> => {
    // If the store is unavailable, the payment is released when its lease expires.
    await service
      .release(run)
      .catch((error: unknown) => log.warn(describeError(error), "a payment could not be released"));
  };

  return {
    async identify(request): Promise<Principal | null> {
      const header = paymentHeaderOf(request);
      const { metering } = request.routeConfig;
      if (metering?.needsAccount === true && header !== null)
        throw new AppError("account_required", ACCOUNT_REQUIRED_DETAIL);
      if (metering === undefined || metering.priceTier === null) return null;
      const price: RoutePrice = { tier: metering.priceTier, settles: metering.settles ?? "after" };
      if (header === null) throw createPaymentRequiredError(options, request, price, null);
      addresses.takePayment(request.ip);
      const payment = parsePaymentHeader(header);
      const call = { payment, price, run: null };
      await mapRejection(request, call, service.check(payment, service.createRouteRequirements(price)));
      calls.set(request, call);
      const customerId = payerCustomerId(payment.authorization.from);
      return { kind: "payer", customerId, plan: "pro", allowance: PLAN_ALLOWANCES.pro };
    },

    async admit(request, reply) {
      const call = calls.get(request);
      if (call === undefined) throw new Error("admit was called for a request that identify did not accept");
      const { method, raw, body } = request;
      const paidRequest = { method, url: raw.url ?? "", body };
      const result = await mapRejection(request, call, service.begin(call.payment, call.price, paidRequest));
      if (result.kind === "replay") {
        setSettlementHeader(reply, service.asset, call.payment.version, result.settlement);
        reply.header("cache-control", "private");
        reply
          .code(result.response.status)
          .headers({ ...result.response.headers })
          .send(Buffer.from(result.response.body));
        return true;
      }
      call.run = result.run;
      reply.hijack = forbidHijack;
      if (result.run.settlement !== null)
        setSettlementHeader(reply, service.asset, call.payment.version, result.run.settlement);
      return false;
    },

    async complete(request, reply, payload) {
      const call = calls.get(request);
      const run = call?.run;
      if (call === undefined || run == null) return payload;
      call.run = null;
      if (request.isDeferred || reply.statusCode >= 400) {
        await release(run);
        return run.settlement === null ? payload : withSettledPayment(payload, run.settlement, run.isRepeat);
      }
      try {
        const response = toStoredResponse(reply, payload);
        // The result of a body in pieces is already computed, so that its payment can be settled.
        const isRepeatable = response !== null || isInPieces(payload);
        if (!isRepeatable && run.settlement === null) {
          await release(run);
          throw new Error("a streaming route must settle the payment before its handler runs");
        }
        const settlement = await mapRejection(request, call, service.deliver(run, response, isRepeatable));
        setSettlementHeader(reply, service.asset, call.payment.version, settlement);
        if (reply.getHeader("cache-control") !== "no-store") reply.header("cache-control", "private");
        // The payment is settled: the send hook may hand the connection to a direct body.
        Reflect.deleteProperty(reply, "hijack");
        return payload;
      } catch (error) {
        const problem = replaceWithProblem(request, reply, payload, error, log);
        if (run.settlement === null || reply.statusCode < 500) return problem;
        setSettlementHeader(reply, service.asset, call.payment.version, run.settlement);
        return withSettledPayment(problem, run.settlement, run.isRepeat);
      }
    },
  };
}

/** Creates the 402 error with the payment requirements. `rejection` is null if the request had no payment. */
function createPaymentRequiredError(
  { service, publicUrl }: PaymentGateOptions,
  request: FastifyRequest,
  price: RoutePrice,
  rejection: PaymentRejectedError | null,
  version = 2,
): AppError {
  const path = (request.raw.url ?? "").split("?", 1)[0] ?? "";
  const resource = {
    url: `${publicUrl}${path.slice(0, RESOURCE_LENGTH_MAX)}`,
    description: request.routeOptions.schema?.summary ?? "",
  };
  const { header, body } = formatRequirements(
    service.createRouteRequirements(price),
    resource,
    rejection?.reason ?? null,
  );
  const headers: Record<string, string> = { "payment-required": header };
  if (rejection === null)
    return new AppError("payment_required", "Send an API key, or pay for this call.", { details: { headers, body } });
  headers[responseHeaderName(version)] = encodeJson({
    success: false,
    errorReason: rejection.reason,
    transaction: "",
    network: networkOf(service.asset, version),
  });
  const detail = `The payment was not accepted: ${rejection.reason}`;
  return new AppError("payment_required", detail, { details: { headers, body } });
}

function setSettlementHeader(
  reply: FastifyReply,
  asset: PaymentAsset,
  version: number,
  { transaction, payer }: Settlement,
): void {
  const network = networkOf(asset, version);
  reply.header(responseHeaderName(version), encodeJson({ success: true, transaction, network, payer }));
}

const networkOf = ({ network }: PaymentAsset, version: number) =>
  version === 1 ? (networkNameV1(network) ?? network) : network;

/** Replaces `reply.hijack` until the payment is settled, because a hijacked response would bypass settlement. */
const forbidHijack = (): never => {
  throw new Error("a paid route must send its response, including streams, with reply.send or sendDirect");
};

/** Discards the response including its headers, and prepares the error response instead. Returns its body. */
function replaceWithProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  error: unknown,
  log: Log,
): string {
  if (isStream(payload)) payload.destroy();
  const problem = toProblem(error);
  if (problem.status >= 500)
    log.warn({ requestId: request.id, ...describeError(error) }, "a paid response was withheld");
  for (const name of Object.keys(reply.getHeaders())) if (!COMMON_HEADER_NAMES.has(name)) reply.removeHeader(name);
  return prepareProblem(reply, problem);
}

/** Returns the response to store, or null for a stream. */
function toStoredResponse(reply: FastifyReply, payload: unknown): StoredResponse | null {
  if (payload !== undefined && payload !== null && typeof payload !== "string" && !Buffer.isBuffer(payload))
    return null;
  const entries = Object.entries(reply.getHeaders()).filter(
    ([name, value]) => !COMMON_HEADER_NAMES.has(name) && !TRANSIENT_HEADERS_PATTERN.test(name) && !Array.isArray(value),
  );
  const headers = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  return { status: reply.statusCode, headers, body: Buffer.from(payload ?? "") };
}

/**
 * Adds the field `payment` to the error body of a charged call. The payment can be redeemed for one response of any
 * call, or only of the same call if it is a repetition.
 */
function withSettledPayment(payload: unknown, { transaction }: Settlement, isRepeat: boolean): unknown {
  if (typeof payload !== "string") return payload;
  const problem: unknown = JSON.parse(payload);
  return JSON.stringify({ ...(problem as object), payment: { settled: true, transaction, redeemable: !isRepeat } });
}

function isStream(payload: unknown): payload is { destroy(): void } {
  return (
    typeof payload === "object" && payload !== null && "destroy" in payload && typeof payload.destroy === "function"
  );
}

/** The version 2 header takes precedence. Node joins repeated headers with a comma, which the parser rejects as base64. */
function paymentHeaderOf({ headers }: FastifyRequest): string | null {
  const value = headers["payment-signature"] ?? headers["x-payment"];
  return value === undefined ? null : String(value);
}

const responseHeaderName = (version: number) => (version === 1 ? "x-payment-response" : "payment-response");

const encodeJson = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
