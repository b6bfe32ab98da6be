import { readFile } from "node:fs/promises";
import { disposableEmailBlocklist } from "disposable-email-domains-js";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { AccountSettings } from "../capabilities/accounts/account-pages/index.ts";
import {
  createTurnstile,
  dummyBotCheck,
  type EmailDelivery,
  parseDomain,
  type SignUpSettings,
  TURNSTILE_DUMMY_TOKEN,
} from "../capabilities/accounts/customers/index.ts";
import type { Config } from "../config/config.ts";
import type { HttpOut } from "../ports/http-out.ts";
import type { Log } from "../ports/log.ts";
import { StartupError } from "./startup-errors.ts";

const DISPOSABLE_DOMAINS_SETTING = "PARALLAX_DISPOSABLE_DOMAINS";

/** Builds the settings of sign-up and of the account page: bot check, disposable domains, e-mail delivery. */
export async function loadSignUpSettings(
  config: Config,
  dependencies: { readonly http: HttpOut; readonly log: Log; readonly closers: (() => Promise<unknown> | unknown)[] },
): Promise<{ readonly signUp: SignUpSettings | null; readonly account: AccountSettings }> {
  const emailDelivery = await openEmailDelivery(config, dependencies.closers);
  return {
    signUp: await createSignUpSettings(config, dependencies, emailDelivery),
    account: {
      botCheck: createBotCheckField(config),
      emailDelivery,
      displaysLinks: displaysSignInLinks(config),
      upgradeUrl: config.upgradeUrl,
    },
  };
}

async function openEmailDelivery(
  { mail, publicUrl }: Config,
  closers: (() => unknown)[],
): Promise<EmailDelivery | null> {
  if (mail === null || publicUrl === null) return null;
  const { createSmtpMail } = await import("../adapters/network/smtp-mail.ts");
  const mailer = createSmtpMail(systemClock, { url: mail.smtpUrl, from: mail.from });
  closers.push(() => mailer.close());
  return { mail: mailer, publicUrl };
}

/** Sign-in links on the pages replace e-mails. Everybody who reaches the pages can use them. */
const displaysSignInLinks = ({ mode, mail, sandbox }: Config): boolean =>
  mode === "sandbox" && mail === null && !sandbox.isPublic;

function createBotCheckField({ turnstile, mode }: Config): AccountSettings["botCheck"] {
  if (turnstile === null) return mode === "sandbox" ? { token: TURNSTILE_DUMMY_TOKEN } : null;
  return turnstile.siteKey === null ? null : { siteKey: turnstile.siteKey };
}

/** Null disables sign-up: live mode without a Turnstile secret. */
async function createSignUpSettings(
  config: Config,
  dependencies: { readonly http: HttpOut; readonly log: Log },
  emailDelivery: EmailDelivery | null,
): Promise<SignUpSettings | null> {
  const { turnstile, mode, publicUrl } = config;
  if (turnstile === null && mode === "live") return null;
  const hostname = publicUrl === null ? null : new URL(publicUrl).hostname;
  const ports = { ...dependencies, clock: systemClock, random: systemRandom };
  const botCheck = turnstile === null ? dummyBotCheck : createTurnstile({ ...ports, ...turnstile, hostname });
  return {
    botCheck,
    disposableDomains: await readDisposableDomains(config.disposableDomains),
    emailDelivery: emailDelivery,
  };
}

/**
 * Combines the built-in list with the operator's entries.
 *
 * @param entries  domains, or paths of files with one domain per line and `#` comments
 * @throws StartupError if a file cannot be read or an entry is not a domain name
 */
async function readDisposableDomains(entries: readonly string[]): Promise<ReadonlySet<string>> {
  const domains = new Set(disposableEmailBlocklist());
  for (const entry of entries) {
    const lines = entry.includes("/") ? await readLines(entry) : [entry];
    for (const line of lines) {
      const domain = parseDomain(line);
      if (domain === null) throw new StartupError(`${DISPOSABLE_DOMAINS_SETTING}: "${line}" is not a domain name.`);
      domains.add(domain);
    }
  }
  return domains;
}

async function readLines(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => {
    throw new StartupError(`${DISPOSABLE_DOMAINS_SETTING}: the file ${path} cannot be read.`);
  });
  return text
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");
}
