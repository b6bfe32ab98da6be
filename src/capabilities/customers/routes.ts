import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { AppError } from "../../domain/errors.ts";
import { METERING } from "../../domain/metering.ts";
import type { Allowance, Tier } from "../../domain/plan.ts";
import type { Principal } from "../../http/auth.ts";
import {
  acceptForms,
  browserProblemPage,
  createFormSubmissions,
  FORM,
  newFormId,
  type ProblemPage,
  prefersHtml,
  sendPage,
  setPrivateHeaders,
} from "../../http/html/index.ts";
import { defineRoute } from "../../http/route.ts";
import { invalidRequest, valueError } from "../../http/validation/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import { type Customers, KEY_NAME_LENGTH_MAX } from "./model.ts";
import { confirmPage, expiredLinkPage, issuedKeyPage } from "./pages.ts";
import { isPlainName } from "./plain-text.ts";
import { byTier, presentIssuedKey, presentKey } from "./present.ts";
import * as schema from "./schema.ts";
import { isVerificationToken } from "./sign-ups.ts";

const TAG = "Account";

export interface CustomerRouteOptions {
  readonly customers: Customers;
  readonly clock: Clock;
  readonly random: Random;
  /** A customer's month so far: calls by tier, how many it may make, and the first day of the next month. */
  readonly usage: (customer: { readonly customerId: string; readonly allowance: Allowance }) => Promise<{
    readonly usage: Readonly<Record<Tier, number>>;
    readonly quotas: Readonly<Record<Tier, number>>;
    readonly resetsOn: string;
  }>;
}

/** Sign-up and its verification, and one's own account and keys. */
export function customerRoutes(app: FastifyInstance, options: CustomerRouteOptions): void {
  signUpRoute(app, options.customers);
  verificationRoutes(app, options);
  meRoute(app, options);
  keyRoutes(app, options.customers);
}

function signUpRoute(app: FastifyInstance, customers: Customers): void {
  defineRoute(app, {
    method: "POST",
    url: "/v1/customers/signup",
    access: "public",
    metering: METERING.FREE,
    tag: TAG,
    summary: "Create a free account",
    description:
      "Answers with the API key, or, where the server verifies e-mail addresses, sends a letter with a link that leads to it. At most 5 an hour from one network address (of IPv6: one /64).",
    operationId: "sign_up",
    body: schema.SignUpBody,
    responses: { 200: schema.SignUpResponse },
    errors: [
      ...(["bot_check_failed", "email_taken", "rate_limited"] as const),
      ...(["signup_not_configured", "bot_check_unavailable", "mail_unavailable", "store_unavailable"] as const),
    ],
    async handler({ body, request }) {
      const name = body.name?.trim() ?? "";
      const result = await customers.signUp({
        email: body.email,
        name: name === "" ? null : name,
        turnstileToken: body.turnstile_token,
        address: request.ip,
      });
      return {
        message: result.requiresVerification
          ? "A letter with a link is on its way: follow it to confirm the address and see the API key"
          : "The account is open; keep the API key, it is shown once",
        requires_verification: result.requiresVerification,
        customer_id: result.customerId,
        ...(result.requiresVerification ? {} : { api_key: result.apiKey }),
      };
    },
  });
}

const deadLink = () =>
  new AppError("verification_not_found", "This link does not work: it is used, replaced or too old");

const verifyProblemPage: ProblemPage = (status, error, request) => {
  const answer = browserProblemPage(status, error, request);
  const isDead = error instanceof AppError && error.code === "verification_not_found";
  return answer !== null && isDead ? { html: expiredLinkPage() } : answer;
};

function verificationRoutes(app: FastifyInstance, { customers, clock, random }: CustomerRouteOptions): void {
  const press = createFormSubmissions<Awaited<ReturnType<Customers["verify"]>>>(app, clock);
  app.register(async (scope) => {
    acceptForms(scope);
    defineRoute(scope, {
      method: "GET",
      url: "/v1/customers/verify",
      access: "public",
      metering: METERING.FREE,
      tag: TAG,
      summary: "The page that a verification letter leads to",
      description: "A page with one button. It uses nothing up: programs that look into letters follow links.",
      operationId: "show_verification",
      query: schema.VerifyQuery,
      responses: { 200: Type.String({ description: "The page" }) },
      produces: ["text/html"],
      errors: ["verification_not_found"],
      problemPage: verifyProblemPage,
      handler({ query, reply }) {
        if (!isVerificationToken(query.token)) throw deadLink();
        return sendPage(reply, 200, confirmPage(query.token, newFormId(random)));
      },
    });
    defineRoute(scope, {
      method: "POST",
      url: "/v1/customers/verify",
      access: "public",
      metering: METERING.FREE,
      tag: TAG,
      summary: "Confirm an e-mail address and get the API key",
      description:
        "Uses the token up, makes the account and shows its key, once. Takes JSON or an HTML form, and answers a browser with a page.",
      operationId: "verify_email",
      body: schema.VerifyBody,
      responses: { 200: schema.VerifyResponse },
      consumes: ["application/json", FORM],
      errors: ["verification_not_found", "store_unavailable"],
      problemPage: verifyProblemPage,
      async handler({ body: { token, form }, request, reply }) {
        const verified = await press(form, token, () => customers.verify(token));
        if (verified === null) throw deadLink();
        setPrivateHeaders(reply);
        if (prefersHtml(request.headers.accept)) return sendPage(reply, 200, issuedKeyPage(verified.apiKey));
        return {
          message: "The account is open; keep the API key, it is shown once",
          customer_id: verified.customerId,
          api_key: verified.apiKey,
        };
      },
    });
  });
}

function meRoute(app: FastifyInstance, { customers, usage }: CustomerRouteOptions): void {
  defineRoute(app, {
    method: "GET",
    url: "/v1/customers/me",
    access: "key",
    metering: METERING.ACCOUNT,
    tag: TAG,
    summary: "Your account: plan, usage and quotas",
    description: "Counts toward no quota.",
    operationId: "get_me",
    cacheControl: "no-store",
    responses: { 200: schema.Me },
    errors: ["store_unavailable"],
    async handler({ principal }) {
      const { customerId, keyId } = accountOf(principal);
      const account = await customers.account(customerId);
      const month = await usage(account);
      return {
        customer_id: customerId,
        email: account.email,
        plan: account.plan,
        status: account.status,
        key_prefix: account.keys.find((key) => key.keyId === keyId)?.prefix ?? "",
        usage: byTier(month.usage),
        quotas: byTier(month.quotas),
        resets_on: month.resetsOn,
      };
    },
  });
}

function keyRoutes(app: FastifyInstance, customers: Customers): void {
  defineRoute(app, {
    method: "GET",
    url: "/v1/customers/me/keys",
    access: "key",
    metering: METERING.ACCOUNT,
    tag: TAG,
    summary: "Your keys, living ones first",
    operationId: "list_keys",
    cacheControl: "no-store",
    responses: { 200: Type.Array(schema.Key) },
    errors: ["store_unavailable"],
    async handler({ principal }) {
      const account = await customers.account(accountOf(principal).customerId);
      return account.keys.map(presentKey);
    },
  });
  defineRoute(app, {
    method: "POST",
    url: "/v1/customers/me/keys",
    access: "key",
    metering: METERING.ACCOUNT,
    tag: TAG,
    summary: "Make another key",
    description: "At most 10 live at once, each with a name of its own.",
    operationId: "create_key",
    body: schema.NewKeyBody,
    responses: { 200: schema.NewKey },
    errors: ["key_name_taken", "key_limit_reached", "store_unavailable"],
    async handler({ principal, body }) {
      const { customerId, keyId } = accountOf(principal);
      const name = body.name.trim();
      if (!isPlainName(name, KEY_NAME_LENGTH_MAX))
        throw invalidRequest([valueError(["body", "name"], "a name is more than blanks", body.name)]);
      return presentIssuedKey(await customers.createKey(customerId, name, { kind: "key", id: keyId }));
    },
  });
  defineRoute(app, {
    method: "POST",
    url: "/v1/customers/me/keys/rotate",
    access: "key",
    metering: METERING.ACCOUNT,
    tag: TAG,
    summary: "Replace the key that this request shows",
    description: "The old key ends at once, on every node; the new one has its name.",
    operationId: "rotate_key",
    responses: { 200: schema.NewKey },
    errors: ["store_unavailable"],
    async handler({ principal }) {
      const { customerId, keyId } = accountOf(principal);
      return presentIssuedKey(await customers.rotateKey(customerId, keyId, { kind: "key", id: keyId }));
    },
  });
  defineRoute(app, {
    method: "DELETE",
    url: "/v1/customers/me/keys/:key_id",
    access: "key",
    metering: METERING.ACCOUNT,
    tag: TAG,
    summary: "Revoke a key",
    description: "It ends at once, on every node. Also the key that the request shows, and the last one.",
    operationId: "revoke_key",
    params: schema.KeyPath,
    responses: { 200: schema.EmptyObject },
    errors: ["key_not_found", "store_unavailable"],
    async handler({ principal, params }) {
      const { customerId, keyId } = accountOf(principal);
      await customers.revokeKey(customerId, params.key_id, { kind: "key", id: keyId });
      return {};
    },
  });
}

/** Whose account it is and which of its keys asks: these routes let nobody in who has none. */
function accountOf({ customerId, keyId }: Principal): { readonly customerId: string; readonly keyId: string } {
  if (keyId === undefined) throw new Error("a customer came in without a key");
  return { customerId, keyId };
}
