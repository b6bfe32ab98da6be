import type { AppPorts } from "../../../src/app/index.ts";
import type { AccountSettings } from "../../../src/capabilities/accounts/account-pages/index.ts";
import type { Database } from "../../../src/ports/database.ts";
import { customerHarness, type TestResponse } from "./customer-harness.ts";

/** The bot check field of the sandbox sign-up form. */
export const TEST_TOKEN = { "cf-turnstile-response": "XXXX.DUMMY.TOKEN.XXXX" };
const FORM_CONTENT_TYPE = "application/x-www-form-urlencoded";

/** Headers of a same-site form submission by a browser whose privacy settings set every origin to null. */
export const SAME_SITE = { "sec-fetch-site": "same-origin", origin: "null" };

export interface Browser {
  /** The session cookie as the browser sends it; empty without a session. */
  readonly cookie: string;
  /** The CSRF token and the form id, which all forms of signed-in pages contain as hidden fields. */
  readonly fields: { readonly csrf: string; readonly form: string };
}

interface RequestOptions {
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

export const keyIn = (text: string): string => /plx_(?:free|pro|ent)_[a-z2-7]{33}/.exec(text)?.[0] ?? "";
export const tokenIn = (text: string): string => /enter\?token=([a-z2-7]{26})/.exec(text)?.[1] ?? "";
export const cookieIn = ({ headers }: TestResponse): string => String(headers["set-cookie"] ?? "").split(";")[0] ?? "";
export const inputIn = (text: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";

/** Drives the account pages like a browser without JavaScript. By default, the server is a sandbox without a mail server. */
export async function accountHarness(database: Database, ports: Partial<AppPorts> = {}) {
  const account: AccountSettings = {
    botCheck: { token: "XXXX.DUMMY.TOKEN.XXXX" },
    emailDelivery: null,
    displaysLinks: true,
  };
  const harness = await customerHarness(database, { account, ...ports });
  let addressCount = 0;
  /** Returns a new IP address for each request, so that limits per IP address do not apply. */
  const createAddress = () => {
    addressCount += 1;
    return `198.18.${addressCount >> 8}.${addressCount & 255}`;
  };
  const createCookieHeader = (cookie: string | undefined): Readonly<Record<string, string>> =>
    cookie === undefined || cookie === "" ? {} : { cookie };
  const visit = (path: string, { cookie, headers = {}, from = createAddress() }: RequestOptions = {}) =>
    harness.call("GET", path, { from, headers: { ...createCookieHeader(cookie), ...headers } });
  const submit = (path: string, fields: Readonly<Record<string, string>>, options: RequestOptions = {}) => {
    const { cookie, headers = SAME_SITE, from = createAddress() } = options;
    const body = String(new URLSearchParams(fields));
    return harness.call("POST", path, {
      body,
      from,
      headers: { "content-type": FORM_CONTENT_TYPE, ...createCookieHeader(cookie), ...headers },
    });
  };
  const readFields = async (cookie: string): Promise<Browser["fields"]> => {
    const { text } = await visit("/account/keys", { cookie });
    return { csrf: inputIn(text, "csrf"), form: inputIn(text, "form") };
  };
  const requestLink = async (email: string) => tokenIn((await submit("/account/sign-in", { email })).text);
  const operator = { kind: "operator", id: "test" } as const;
  return {
    ...harness,
    visit,
    submit,
    fieldsOf: readFields,
    operator,
    /** Creates an account with a first key. */
    async createAccount(email: string, name: string | null = null) {
      const { customerId, key } = await harness.app.customers.create({ email, name, plan: "free" }, operator);
      return { email, customerId, keyId: key.keyId, apiKey: key.apiKey };
    },
    /** Requests a sign-in link on a sandbox page and returns its token. */
    requestLink,
    isSignedIn: async (cookie: string) => (await visit("/account", { cookie })).text.includes("Sign out"),
    /** Signs in with a link displayed by the sandbox. */
    async signIn(email: string, cookie = ""): Promise<Browser> {
      const enterResponse = await submit("/account/enter", { token: await requestLink(email) }, { cookie });
      const nextCookie = cookieIn(enterResponse);
      return { cookie: nextCookie, fields: await readFields(nextCookie) };
    },
  };
}

/** Opens an account harness and signs in to a new account. */
export async function signedInHarness(database: Database, ports: Partial<AppPorts> = {}) {
  const harness = await accountHarness(database, ports);
  const account = await harness.createAccount("ada@example.org");
  return { harness, ...account, ...(await harness.signIn(account.email)) };
}
