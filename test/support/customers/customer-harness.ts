import { after, before, beforeEach } from "node:test";
import { createSmtpMail } from "../../../src/adapters/network/smtp-mail.ts";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { type AppPorts, buildApp } from "../../../src/app.ts";
import { createTurnstile, dummyBotCheck, type SignUpSettings } from "../../../src/capabilities/customers/index.ts";
import type { Database } from "../../../src/ports/database.ts";
import { plainAppPorts } from "../app-ports.ts";
import { FakeClock } from "../fake-clock.ts";
import { recordingLog } from "../test-app.ts";
import { ScriptedVenue } from "../venues/scripted-venue.ts";
import { type Mailbox, openMailbox, type ReceivedMail } from "./mailbox.ts";
import { startTurnstileServer, TURNSTILE_SECRET, type TurnstileServer } from "./turnstile-server.ts";

export const PUBLIC_URL = "https://parallax.example";
const DISPOSABLE = new Set(["tempmail.example"]);

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
  /** The caller's network address. */
  readonly from?: string;
}

/**
 * The complete service on a real database, with a venue that is never read. By default sign-up works as in a sandbox
 * without a Turnstile secret. The service is closed at the end of the test.
 */
export async function customerHarness(database: Database, ports: Partial<AppPorts> = {}) {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 12));
  const { log, lines } = recordingLog();
  const venues = [{ id: "venue_a", referenceOnly: false, create: () => new ScriptedVenue("venue_a", clock) }];
  const signUp: SignUpSettings = { botCheck: dummyBotCheck, disposableDomains: DISPOSABLE, letters: null };
  const app = await buildApp(plainAppPorts({ database, log, venues, clock, signUp, ...ports }));
  await app.http.ready();
  after(() => app.http.close());
  const call = async (method: "GET" | "POST" | "DELETE", url: string, options: Call = {}): Promise<TestResponse> => {
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

export interface SignUpServices {
  readonly turnstile: TurnstileServer;
  readonly mailbox: Mailbox;
  /** Sign-up settings with Turnstile and without e-mail verification. */
  readonly withTurnstile: SignUpSettings;
  /** Sign-up settings with e-mail verification and the test bot check. */
  readonly withEmail: SignUpSettings;
  /** Waits until the current test has received `count` e-mails, and returns them. */
  receivedMails(count: number): Promise<readonly ReceivedMail[]>;
  /** The e-mails received by the current test so far. */
  currentMails(): readonly ReceivedMail[];
}

/** Starts a Turnstile and an SMTP test server on loopback before the tests of the calling file, and stops them afterwards. */
export function useSignUpServices(): SignUpServices {
  let services: Awaited<ReturnType<typeof startSignUpServices>>;
  let earlierMails = 0;
  before(async () => {
    services = await startSignUpServices();
  });
  beforeEach(() => {
    earlierMails = services.mailbox.mails.length;
  });
  after(() => services.close());
  return {
    get turnstile() {
      return services.turnstile;
    },
    get mailbox() {
      return services.mailbox;
    },
    get withTurnstile() {
      return services.withTurnstile;
    },
    get withEmail() {
      return services.withEmail;
    },
    receivedMails: async (count) => (await services.mailbox.received(earlierMails + count)).slice(earlierMails),
    currentMails: () => services.mailbox.mails.slice(earlierMails),
  };
}

async function startSignUpServices() {
  const turnstile = await startTurnstileServer();
  const mailbox = await openMailbox();
  const http = createUndiciHttp(systemClock);
  const { log } = recordingLog();
  const mail = createSmtpMail({ url: `smtp://127.0.0.1:${mailbox.port}`, from: "Parallax <hello@parallax.example>" });
  const dependencies = {
    http,
    clock: systemClock,
    random: systemRandom,
    log,
    hostname: "parallax.example",
    deadlineMs: 300,
  };
  const botCheck = createTurnstile({ ...dependencies, secret: TURNSTILE_SECRET, url: turnstile.url });
  const withTurnstile: SignUpSettings = { botCheck, disposableDomains: DISPOSABLE, letters: null };
  return {
    turnstile,
    mailbox,
    withTurnstile,
    withEmail: { ...withTurnstile, botCheck: dummyBotCheck, letters: { mail, publicUrl: PUBLIC_URL } },
    async close() {
      await mail.close();
      await http.close();
      await mailbox.close();
      await turnstile.close();
    },
  };
}
