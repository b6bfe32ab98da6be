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
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { startTurnstileServer, TURNSTILE_SECRET, type TurnstileServer } from "./turnstile-server.ts";

export const PUBLIC_URL = "https://parallax.example";
const DISPOSABLE = new Set(["tempmail.example"]);

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and asserts on it
  readonly json: any;
}

export interface Call {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The socket's address. */
  readonly from?: string;
}

/** The whole service beside a venue that is never read, over a real store; sign-up without a secret, as in a sandbox, unless told otherwise. */
export async function customerHarness(database: Database, ports: Partial<AppPorts> = {}) {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 12));
  const { log, lines } = recordingLog();
  const venues = [{ id: "venue_a", referenceOnly: false, create: () => new ScriptedVenue("venue_a", clock) }];
  const signUp: SignUpSettings = { botCheck: dummyBotCheck, disposableDomains: DISPOSABLE, letters: null };
  const app = await buildApp(plainAppPorts({ database, log, venues, clock, signUp, ...ports }));
  await app.http.ready();
  const call = async (method: "GET" | "POST" | "DELETE", url: string, options: Call = {}): Promise<Answer> => {
    const { key, body, headers = {}, from = "203.0.113.9" } = options;
    const reply = await app.http.inject({
      ...{ method, url, remoteAddress: from },
      headers: {
        ...(body !== undefined && typeof body !== "string" ? { "content-type": "application/json" } : {}),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    let json: unknown = null;
    try {
      json = JSON.parse(reply.payload);
    } catch {
      json = null;
    }
    return { status: reply.statusCode, headers: reply.headers, text: reply.payload, json };
  };
  const signUpAs = (email: string, more: Call & { token?: string; name?: string } = {}) => {
    const { token = "XXXX.DUMMY.TOKEN.XXXX", name, ...rest } = more;
    return call("POST", "/v1/customers/signup", { body: { email, turnstile_token: token, name }, ...rest });
  };
  return { app, clock, lines, call, signUpAs, close: () => app.http.close() };
}

/** What a deployment with Turnstile and a mail server has, with stand-ins on loopback that speak their protocols. */
export async function signUpServices(): Promise<{
  readonly turnstile: TurnstileServer;
  readonly mailbox: Mailbox;
  readonly withTurnstile: SignUpSettings;
  readonly withLetters: SignUpSettings;
  close(): Promise<void>;
}> {
  const turnstile = await startTurnstileServer();
  const mailbox = await openMailbox();
  const http = createUndiciHttp(systemClock);
  const { log } = recordingLog();
  const mail = createSmtpMail({ url: `smtp://127.0.0.1:${mailbox.port}`, from: "Parallax <hello@parallax.example>" });
  const tools = { http, clock: systemClock, random: systemRandom, log, hostname: "parallax.example", deadlineMs: 300 };
  const botCheck = createTurnstile({ ...tools, secret: TURNSTILE_SECRET, url: turnstile.url });
  const withTurnstile: SignUpSettings = { botCheck, disposableDomains: DISPOSABLE, letters: null };
  return {
    turnstile,
    mailbox,
    withTurnstile,
    withLetters: { ...withTurnstile, botCheck: dummyBotCheck, letters: { mail, publicUrl: PUBLIC_URL } },
    async close() {
      await mail.close();
      await http.close();
      await mailbox.close();
      await turnstile.close();
    },
  };
}
