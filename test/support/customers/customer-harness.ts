import { beforeEach } from "node:test";
import { createSmtpMail } from "../../../src/adapters/network/smtp-mail.ts";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { type AppPorts, buildApp } from "../../../src/app/index.ts";
import {
  createTurnstile,
  dummyBotCheck,
  type SignUpSettings,
} from "../../../src/capabilities/accounts/customers/index.ts";
import type { Database } from "../../../src/ports/database.ts";
import { plainAppPorts } from "../app-ports.ts";
import { FakeClock } from "../fake-clock.ts";
import { atFileEnd } from "../file-end.ts";
import { recordingLog } from "../test-app.ts";
import { ScriptedVenue } from "../venues/scripted-venue.ts";
import { openMailbox } from "./mailbox.ts";
import { startTurnstileServer, TURNSTILE_SECRET } from "./turnstile-server.ts";

export const PUBLIC_URL = "https://parallax.example";
const DISPOSABLE_DOMAINS = new Set(["tempmail.example"]);

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read and check untyped response bodies
  readonly json: any;
}

export interface Call {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's IP address. */
  readonly from?: string;
}

/**
 * Builds the complete service on a real database, with a venue that is never read. By default sign-up works as in a
 * sandbox without a Turnstile secret. The service is closed at the end of the test.
 */
export async function customerHarness(database: Database, ports: Partial<AppPorts> = {}) {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 12));
  const { log, lines } = recordingLog();
  const venues = [
    { id: "venue_a", referenceOnly: false, playMoney: false, create: () => new ScriptedVenue("venue_a", clock) },
  ];
  const signUp: SignUpSettings = {
    botCheck: dummyBotCheck,
    disposableDomains: DISPOSABLE_DOMAINS,
    emailDelivery: null,
  };
  const app = await buildApp(plainAppPorts({ database, log, venues, clock, signUp, ...ports }));
  await app.http.ready();
  atFileEnd(() => app.http.close());
  const call = async (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    url: string,
    options: Call = {},
  ): Promise<TestResponse> => {
    const { key, body, headers = {}, from = "203.0.113.9" } = options;
    const isJson = body !== undefined && typeof body !== "string";
    const reply = await app.http.inject({
      method,
      url,
      remoteAddress: from,
      headers: {
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
      payload: isJson ? JSON.stringify(body) : body,
    });
    const json = parseJson(reply.payload);
    return { status: reply.statusCode, headers: reply.headers, text: reply.payload, json };
  };
  const signUpAs = (email: string, options: Call & { token?: string; name?: string } = {}) => {
    const { token = "XXXX.DUMMY.TOKEN.XXXX", name, ...rest } = options;
    return call("POST", "/v1/customers/signup", { body: { email, turnstile_token: token, name }, ...rest });
  };
  return { app, clock, lines, call, signUpAs };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Starts a Turnstile and an SMTP test server on loopback for the tests of the calling file. */
export async function useSignUpServices() {
  const turnstile = await startTurnstileServer();
  const mailbox = await openMailbox();
  const http = createUndiciHttp(systemClock);
  const { log } = recordingLog();
  const mail = createSmtpMail(systemClock, {
    url: `smtp://127.0.0.1:${mailbox.port}`,
    from: "Parallax <hello@parallax.example>",
  });
  const dependencies = { http, clock: systemClock, random: systemRandom, log, hostname: "parallax.example" };
  const options = { secret: TURNSTILE_SECRET, url: turnstile.url, deadlineMs: 300 };
  const botCheck = createTurnstile({ ...dependencies, ...options });
  const withTurnstile: SignUpSettings = { botCheck, disposableDomains: DISPOSABLE_DOMAINS, emailDelivery: null };
  const emailDelivery = { mail, publicUrl: PUBLIC_URL };
  const withEmail: SignUpSettings = { ...withTurnstile, botCheck: dummyBotCheck, emailDelivery: emailDelivery };
  let earlierMailCount = 0;
  beforeEach(() => {
    earlierMailCount = mailbox.mails.length;
  });
  atFileEnd(async () => {
    await mail.close();
    await http.close();
    await mailbox.close();
    await turnstile.close();
  });
  return {
    turnstile,
    mailbox,
    /** Sign-up settings with Turnstile and without e-mail verification. */
    withTurnstile,
    /** Sign-up settings with e-mail verification and the test bot check. */
    withEmail,
    /** Waits until the current test has received `count` e-mails, and returns them. */
    receivedMails: async (count: number) => (await mailbox.received(earlierMailCount + count)).slice(earlierMailCount),
    /** The e-mails received by the current test so far. */
    currentMails: () => mailbox.mails.slice(earlierMailCount),
  };
}
