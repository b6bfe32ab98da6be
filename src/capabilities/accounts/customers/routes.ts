import type { FastifyInstance, FastifyRequest } from "fastify";
import Type from "typebox";
import { AppError, invalidValue } from "../../../domain/errors.ts";
import { ACCOUNT_READS_PER_MINUTE, METERING } from "../../../domain/metering.ts";
import type { Principal } from "../../../http/auth.ts";
import {
  acceptForms,
  createBrowserProblemPage,
  createFormId,
  createFormSubmissions,
  FORM_CONTENT_TYPE,
  type ProblemPage,
  prefersHtml,
  sendPage,
  setPrivateHeaders,
} from "../../../http/html/index.ts";
import { assertSameSite, resolveSite } from "../../../http/html/site.ts";
import { defineRoute } from "../../../http/route.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { isToken } from "../keys/index.ts";
import { KEY_NAME_LENGTH_MAX, type ReadUsage } from "./model.ts";
import { createConfirmPage, createExpiredLinkPage, createIssuedKeyPage } from "./pages.ts";
import { isPlainName } from "./plain-text.ts";
import { presentIssuedKey, presentKey, toTierCounts } from "./present.ts";
import * as schema from "./schema.ts";
import type { Customers } from "./service.ts";

/** Routes that require no key and consume no quota. */
const PUBLIC_ROUTE = { access: "public", metering: METERING.FREE, tag: "Account" } as const;
/** Routes for the account that owns the key. */
const ACCOUNT_ROUTE = { access: "key", metering: METERING.ACCOUNT, tag: "Account" } as const;
const ACCOUNT_READY_MESSAGE = "Your account is ready. Store the API key safely: it is shown only once.";

interface CustomerRouteOptions extends Pick<AreaPorts, "clock" | "random" | "publicUrl"> {
  readonly customers: Customers;
  readonly usage: ReadUsage;
  /** Starts a session. Returns the `Set-Cookie` header, or null if the browser cannot be signed in. */
  readonly signIn: (request: FastifyRequest, customerId: string) => Promise<string | null>;
}

/** Registers the routes for sign-up, e-mail verification, the caller's account and its API keys. */
export function customerRoutes(app: FastifyInstance, options: CustomerRouteOptions): void {
  defineSignUpRoute(app, options.customers);
  defineVerificationRoutes(app, options);
  defineMeRoute(app, options);
  defineKeyRoutes(app, options.customers);
}

function defineSignUpRoute(app: FastifyInstance, customers: Customers): void {
  defineRoute(app, {
    method: "POST",
    url: "/v1/customers/signup",
    ...PUBLIC_ROUTE,
    summary: "Create a free account",
    description:
      "Creates an account on the free plan and returns its API key. If the server verifies e-mail addresses, it sends an e-mail with a verification link instead. Limited to 5 sign-ups per hour and network address (IPv6: per /64 prefix).",
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
          ? "Check your e-mail: open the link we sent you to confirm your address and get your API key."
          : ACCOUNT_READY_MESSAGE,
        requires_verification: result.requiresVerification,
        customer_id: result.customerId,
        ...(result.requiresVerification ? {} : { api_key: result.apiKey }),
      };
    },
  });
}

const createInvalidLinkError = () =>
  new AppError("verification_not_found", "This link is invalid: it has been used or replaced, or it has expired");

const renderVerificationProblem: ProblemPage = (status, error, request) => {
  const page = createBrowserProblemPage(status, error, request);
  const isInvalidLink = error instanceof AppError && error.code === "verification_not_found";
  return page !== null && isInvalidLink ? createExpiredLinkPage() : page;
};

/** Browsers send JSON to another site only after a preflight request, so only other bodies can be cross-site forms. */
const isForm = (contentType: string | undefined): boolean =>
  contentType !== undefined && !/^application\/json\s*(?:;|$)/i.test(contentType);

function defineVerificationRoutes(app: FastifyInstance, options: CustomerRouteOptions): void {
  const { customers, clock, random, publicUrl, signIn } = options;
  const verifyOnce = createFormSubmissions<Awaited<ReturnType<typeof verify>>>(app, clock);
  /** Verifies the address and signs in the browser; other clients get no session. */
  const verify = async (token: string, request: FastifyRequest) => {
    const account = await customers.verify(token);
    const isBrowser = account !== null && prefersHtml(request.headers.accept);
    return account && { ...account, cookie: isBrowser ? await signIn(request, account.customerId) : null };
  };
  app.register(async (scope) => {
    acceptForms(scope);
    scope.addHook("onRequest", async (request) => {
      if (request.method === "POST" && isForm(request.headers["content-type"])) assertSameSite(request, publicUrl);
    });
    defineRoute(scope, {
      method: "GET",
      url: "/v1/customers/verify",
      ...PUBLIC_ROUTE,
      summary: "Show the verification page",
      description:
        "The page that the verification e-mail links to. It contains a form that submits the token. Opening the page does not consume the token, so mail scanners can follow the link.",
      operationId: "show_verification",
      query: schema.VerifyQuery,
      responses: { 200: Type.String({ description: "The page" }) },
      produces: ["text/html"],
      errors: ["verification_not_found"],
      problemPage: renderVerificationProblem,
      handler({ query, reply }) {
        if (!isToken(query.token)) throw createInvalidLinkError();
        return sendPage(reply, 200, createConfirmPage(query.token, createFormId(random)));
      },
    });
    defineRoute(scope, {
      method: "POST",
      url: "/v1/customers/verify",
      ...PUBLIC_ROUTE,
      summary: "Verify an e-mail address",
      description:
        "Consumes the token, creates the account and returns its API key, which is shown only once. Accepts JSON or an HTML form. Browsers receive an HTML page.",
      operationId: "verify_email",
      body: schema.VerifyBody,
      responses: { 200: schema.VerifyResponse },
      consumes: ["application/json", FORM_CONTENT_TYPE],
      errors: ["cross_site_refused", "verification_not_found", "store_unavailable"],
      problemPage: renderVerificationProblem,
      async handler({ body: { token, form }, request, reply }) {
        const verifiedAccount = await verifyOnce(form, token, () => verify(token, request));
        if (verifiedAccount === null) throw createInvalidLinkError();
        setPrivateHeaders(reply);
        if (prefersHtml(request.headers.accept)) {
          const { apiKey, cookie } = verifiedAccount;
          const { origin } = resolveSite(publicUrl, request.headers.host);
          if (cookie !== null) reply.header("set-cookie", cookie);
          return sendPage(reply, 200, createIssuedKeyPage(apiKey, origin, cookie !== null));
        }
        return {
          message: ACCOUNT_READY_MESSAGE,
          customer_id: verifiedAccount.customerId,
          api_key: verifiedAccount.apiKey,
        };
      },
    });
  });
}

function defineMeRoute(app: FastifyInstance, { customers, usage }: CustomerRouteOptions): void {
  defineRoute(app, {
    method: "GET",
    url: "/v1/customers/me",
    ...ACCOUNT_ROUTE,
    metering: METERING.ACCOUNT_READ,
    summary: "Retrieve your account",
    description: `Returns your plan, usage and quotas. This call does not count towards any quota or your rate limit, but towards a limit of its own (${ACCOUNT_READS_PER_MINUTE} per minute). The header RateLimit also contains your general rate limit.`,
    operationId: "get_me",
    cacheControl: "no-store",
    responses: { 200: schema.AccountSchema },
    errors: ["store_unavailable"],
    async handler({ principal }) {
      const { customerId, keyId } = requireAccount(principal);
      const account = await customers.account(customerId);
      const monthlyUsage = await usage(account);
      return {
        customer_id: customerId,
        email: account.email,
        plan: account.plan,
        status: account.status,
        key_prefix: account.keys.find((key) => key.keyId === keyId)?.prefix ?? "",
        usage: toTierCounts(monthlyUsage.usage),
        quotas: toTierCounts(monthlyUsage.quotas),
        resets_on: monthlyUsage.resetsOn,
      };
    },
  });
}

function defineKeyRoutes(app: FastifyInstance, customers: Customers): void {
  defineRoute(app, {
    method: "GET",
    url: "/v1/customers/me/keys",
    ...ACCOUNT_ROUTE,
    summary: "List your API keys",
    description: "Returns active keys first. This call does not count towards any quota.",
    operationId: "list_keys",
    cacheControl: "no-store",
    responses: { 200: Type.Array(schema.KeySchema) },
    errors: ["store_unavailable"],
    async handler({ principal }) {
      const account = await customers.account(requireAccount(principal).customerId);
      return account.keys.map(presentKey);
    },
  });
  defineRoute(app, {
    method: "POST",
    url: "/v1/customers/me/keys",
    ...ACCOUNT_ROUTE,
    summary: "Create an API key",
    description: "You can have up to 10 active keys. Each active key needs a unique name.",
    operationId: "create_key",
    body: schema.NewKeyBody,
    responses: { 200: schema.NewKeySchema },
    errors: ["key_name_taken", "key_limit_reached", "store_unavailable"],
    async handler({ principal, body }) {
      const { customerId, keyId } = requireAccount(principal);
      const name = body.name.trim();
      if (!isPlainName(name, KEY_NAME_LENGTH_MAX)) throw invalidValue(["body", "name"], "must not be blank", body.name);
      return presentIssuedKey(await customers.createKey(customerId, name, { kind: "key", id: keyId }));
    },
  });
  defineRoute(app, {
    method: "POST",
    url: "/v1/customers/me/keys/rotate",
    ...ACCOUNT_ROUTE,
    summary: "Rotate the API key of this request",
    description:
      "Revokes, immediately and on every node, the key that authenticates this request, and returns a new key with the same name.",
    operationId: "rotate_key",
    responses: { 200: schema.NewKeySchema },
    errors: ["store_unavailable"],
    async handler({ principal }) {
      const { customerId, keyId } = requireAccount(principal);
      return presentIssuedKey(await customers.rotateKey(customerId, keyId, { kind: "key", id: keyId }));
    },
  });
  defineRoute(app, {
    method: "DELETE",
    url: "/v1/customers/me/keys/:key_id",
    ...ACCOUNT_ROUTE,
    summary: "Revoke an API key",
    description:
      "The key stops working on every node immediately. You can revoke any of your keys, including the one that authenticates this request.",
    operationId: "revoke_key",
    params: schema.KeyPath,
    responses: { 200: schema.EmptyObject },
    errors: ["key_not_found", "store_unavailable"],
    async handler({ principal, params }) {
      const { customerId, keyId } = requireAccount(principal);
      await customers.revokeKey(customerId, params.key_id, { kind: "key", id: keyId });
      return {};
    },
  });
}

/** Returns the customer and key of the request; routes with `access: "key"` always have both. */
function requireAccount({ customerId, keyId }: Principal): { readonly customerId: string; readonly keyId: string } {
  if (keyId === undefined) throw new Error("request without an API key on a route that requires one");
  return { customerId, keyId };
}
