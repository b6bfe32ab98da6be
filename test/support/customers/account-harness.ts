import type { AppPorts } from "../../../src/app.ts";
import type { Database } from "../../../src/ports/database.ts";
import { type Answer, customerHarness } from "./customer-harness.ts";

const FORM = "application/x-www-form-urlencoded";

/** What a browser says of a form that was sent from a page of the same site, where its settings make each origin null. */
export const OWN_PAGE = { "sec-fetch-site": "same-origin", origin: "null" };

export interface Browser {
  /** The session's cookie as the browser sends it; empty without one. */
  readonly cookie: string;
  /** What every form of its account page carries. */
  readonly fields: { readonly csrf: string; readonly form: string };
}

interface Sending {
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

export const keyIn = (text: string): string => /plx_(?:free|pro|ent)_[a-z2-7]{33}/.exec(text)?.[0] ?? "";
export const tokenIn = (text: string): string => /enter\?token=([a-z2-7]{26})/.exec(text)?.[1] ?? "";
export const cookieIn = ({ headers }: Answer): string => String(headers["set-cookie"] ?? "").split(";")[0] ?? "";
export const inputIn = (text: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";

/** The account's page as a browser without scripts uses it; a sandbox without letters unless told otherwise. */
export async function accountHarness(database: Database, ports: Partial<AppPorts> = {}) {
  const account = { botCheck: { token: "XXXX.DUMMY.TOKEN.XXXX" }, letters: null };
  const bench = await customerHarness(database, { account, ...ports });
  let from = 0;
  /** Every caller has an address of its own, unless limits by address are what is tried. */
  const anAddress = () => {
    from += 1;
    return `198.18.${from >> 8}.${from & 255}`;
  };
  const cookieHeader = (cookie: string | undefined): Readonly<Record<string, string>> =>
    cookie === undefined || cookie === "" ? {} : { cookie };
  const visit = (path: string, { cookie, headers = {}, from = anAddress() }: Sending = {}) =>
    bench.call("GET", path, { from, headers: { ...cookieHeader(cookie), ...headers } });
  const submit = (path: string, fields: Readonly<Record<string, string>>, sending: Sending = {}) => {
    const { cookie, headers = OWN_PAGE, from = anAddress() } = sending;
    const body = String(new URLSearchParams(fields));
    return bench.call("POST", path, {
      body,
      from,
      headers: { "content-type": FORM, ...cookieHeader(cookie), ...headers },
    });
  };
  const fieldsOf = async (cookie: string): Promise<Browser["fields"]> => {
    const { text } = await visit("/account", { cookie });
    return { csrf: inputIn(text, "csrf"), form: inputIn(text, "form") };
  };
  const operator = { kind: "operator", id: "test" } as const;
  return {
    ...bench,
    visit,
    submit,
    fieldsOf,
    operator,
    /** An account with its first key. */
    async open(email: string, name: string | null = null) {
      const { customerId, key } = await bench.app.customers.create({ email, name, plan: "free" }, operator);
      return { email, customerId, keyId: key.keyId, apiKey: key.apiKey };
    },
    /** Signs in by the link that a sandbox shows. */
    async signIn(email: string, cookie = ""): Promise<Browser> {
      const shown = await submit("/account/sign-in", { email });
      const entered = await submit("/account/enter", { token: tokenIn(shown.text) }, { cookie });
      const next = cookieIn(entered);
      return { cookie: next, fields: await fieldsOf(next) };
    },
  };
}
