import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../domain/errors.ts";
import { PLAN_ALLOWANCES } from "../../domain/plan.ts";
import type { Principal } from "../../http/auth.ts";
import type { PaymentGate } from "../../http/payment-gate.ts";
import { COMMON_HEADERS, prepareProblem, toProblem } from "../../http/problem.ts";
import { describeError } from "../../http/request-log.ts";
import type { Log } from "../../ports/log.ts";
import type { AddressLimits } from "../metering/index.ts";
import type { Payment, RoutePrice, Settlement, StoredResponse } from "./model.ts";
import { demandFor, networkNameV1 } from "./requirements.ts";
import { readPaymentHeader } from "./schema.ts";
import { type PaidRun, PaymentRefusedError, type PaymentService, payerName } from "./service.ts";

/** Of a called address so much is repeated to the payer. */
const RESOURCE_LENGTH_MAX = 500;
/** Of this answer alone, or of its connection: not kept with an answer that may be given again. */
const PASSING_HEADERS = /^(?:date|connection|content-length|keep-alive|transfer-encoding|ratelimit.*|retry-after)$/;

/** One paid request on its way. */
interface PaidCall {
  readonly payment: Payment;
  readonly price: RoutePrice;
  /** Null before it has begun, and where it was answered before. */
  run: PaidRun | null;
}

/** The till for payments by x402, versions 1 and 2. */
export function createPaymentGate(options: {
  readonly service: PaymentService;
  readonly publicUrl: string;
  readonly log: Log;
  readonly addresses: Pick<AddressLimits, "takePayment" | "noteRefusedPayment">;
}): PaymentGate {
  const { service, publicUrl, log, addresses } = options;
  const calls = new WeakMap<FastifyRequest, PaidCall>();

  /** What is asked for, as the error that says so; `refusal` of the payment that came, if one did. */
  const demand = (
    request: FastifyRequest,
    price: RoutePrice,
    refusal: PaymentRefusedError | null,
    version = 2,
  ): AppError => {
    const path = (request.raw.url ?? "").split("?", 1)[0] ?? "";
    const resource = {
      url: `${publicUrl}${path.slice(0, RESOURCE_LENGTH_MAX)}`,
      description: request.routeOptions.schema?.summary ?? "",
    };
    const { header, body } = demandFor(service.requirementsFor(price), resource, refusal?.reason ?? null);
    const failure = { success: false, errorReason: refusal?.reason, transaction: "", network: networkOf(version) };
    return new AppError(
      "payment_required",
      refusal === null ? "Send a Bearer key, or pay for this call" : `The payment was not taken: ${refusal.reason}`,
      {
        details: {
          headers: {
            "payment-required": header,
            ...(refusal === null ? {} : { [responseHeader(version)]: encode(failure) }),
          },
          body,
        },
      },
    );
  };

  const networkOf = (version: number) =>
    version === 1 ? (networkNameV1(service.asset.network) ?? service.asset.network) : service.asset.network;

  const tellSettlement = (reply: FastifyReply, version: number, { transaction, payer }: Settlement) =>
    reply.header(responseHeader(version), encode({ success: true, transaction, network: networkOf(version), payer }));

  /** Runs a step; a refusal of the payment becomes the demand for a better one. */
  const orDemand = async <Result>(
    request: FastifyRequest,
    call: Pick<PaidCall, "payment" | "price">,
    step: Promise<Result>,
  ) => {
    try {
      return await step;
    } catch (error) {
      if (!(error instanceof PaymentRefusedError)) throw error;
      addresses.noteRefusedPayment(request.ip);
      throw demand(request, call.price, error, call.payment.version);
    }
  };

  const giveUp = async (run: PaidRun): Promise<void> => {
    // Its lease ends by itself where the store cannot be told.
    await service
      .giveUp(run)
      .catch((error: unknown) => log.warn(describeError(error), "a payment could not be let go"));
  };

  return {
    async identify(request): Promise<Principal | null> {
      const header = paymentHeaderOf(request);
      const { metering } = request.routeConfig;
      if (metering?.needsAccount === true && header !== null) throw new AppError("account_required", ACCOUNT_REQUIRED);
      if (metering === undefined || metering.priceTier === null || metering.needsAccount === true) return null;
      const price: RoutePrice = { tier: metering.priceTier, settles: metering.settles ?? "after" };
      if (header === null) throw demand(request, price, null);
      addresses.takePayment(request.ip);
      const payment = readPaymentHeader(header);
      const call = { payment, price, run: null };
      await orDemand(request, call, service.check(payment, service.requirementsFor(price)));
      calls.set(request, call);
      const customerId = payerName(payment.authorization.from);
      return { kind: "payer", customerId, plan: "pro", allowance: PLAN_ALLOWANCES.pro };
    },

    async admit(request, reply) {
      const call = calls.get(request);
      if (call === undefined) throw new Error("a payer came past the till");
      const { method, raw, body } = request;
      const about = { method, url: raw.url ?? "", body };
      const begun = await orDemand(request, call, service.begin(call.payment, call.price, about));
      if (begun.kind === "replay") {
        tellSettlement(reply, call.payment.version, begun.settlement);
        const { status, headers, body: bytes } = begun.answer;
        reply.header("cache-control", "private");
        reply
          .code(status)
          .headers({ ...headers })
          .send(Buffer.from(bytes));
        return true;
      }
      call.run = begun.run;
      reply.hijack = refuseHijack;
      if (begun.run.settlement !== null) tellSettlement(reply, call.payment.version, begun.run.settlement);
      return false;
    },

    async complete(request, reply, payload) {
      const call = calls.get(request);
      const run = call?.run;
      if (call === undefined || run == null) return payload;
      call.run = null;
      if (reply.statusCode >= 400) {
        await giveUp(run);
        return run.settlement === null ? payload : withCredit(payload, run.settlement);
      }
      try {
        const answer = keep(reply, payload);
        if (answer === null && run.settlement === null) {
          await giveUp(run);
          throw new Error("a route that streams has to settle before");
        }
        const settlement = await orDemand(request, call, service.deliver(run, answer));
        tellSettlement(reply, call.payment.version, settlement);
        reply.header("cache-control", "private");
        return payload;
      } catch (error) {
        const told = withhold(request, reply, payload, error, log);
        if (run.settlement === null || reply.statusCode < 500) return told;
        tellSettlement(reply, call.payment.version, run.settlement);
        return withCredit(told, run.settlement);
      }
    },
  };
}

/** What is written past the server would never be booked: streams go through it, and are booked before their first byte. */
const refuseHijack = (): never => {
  throw new Error("a route that is sold sends its answer, also a stream, by reply.send");
};

const ACCOUNT_REQUIRED = "This endpoint needs an account of this service";

/** Nothing of the answer goes out, no header either: what went wrong is told in its place. */
function withhold(request: FastifyRequest, reply: FastifyReply, payload: unknown, error: unknown, log: Log): string {
  if (isStream(payload)) payload.destroy();
  const problem = toProblem(error);
  if (problem.status >= 500) log.warn({ requestId: request.id, ...describeError(error) }, "a paid answer was withheld");
  for (const name of Object.keys(reply.getHeaders())) if (!COMMON_HEADERS.has(name)) reply.removeHeader(name);
  return prepareProblem(reply, problem);
}

/** The answer as it can be given again; null for what has no end yet. */
function keep(reply: FastifyReply, payload: unknown): StoredResponse | null {
  if (payload !== undefined && payload !== null && typeof payload !== "string" && !Buffer.isBuffer(payload))
    return null;
  const entries = Object.entries(reply.getHeaders()).filter(
    ([name, value]) => !COMMON_HEADERS.has(name) && !PASSING_HEADERS.test(name) && !Array.isArray(value),
  );
  const headers = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  return { status: reply.statusCode, headers, body: Buffer.from(payload ?? "") };
}

/** The call failed and is paid for: its error says that the same payment is still good for one answer. */
function withCredit(payload: unknown, { transaction }: Settlement): unknown {
  if (typeof payload !== "string") return payload;
  const problem: unknown = JSON.parse(payload);
  return JSON.stringify({ ...(problem as object), payment: { settled: true, transaction, redeemable: true } });
}

function isStream(payload: unknown): payload is { destroy(): void } {
  return (
    typeof payload === "object" && payload !== null && "destroy" in payload && typeof payload.destroy === "function"
  );
}

/** Version 2's header first. Sent twice, their values come joined and are no base64. */
function paymentHeaderOf({ headers }: FastifyRequest): string | null {
  const sent = headers["payment-signature"] ?? headers["x-payment"];
  return sent === undefined ? null : String(sent);
}

const responseHeader = (version: number) => (version === 1 ? "x-payment-response" : "payment-response");

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
