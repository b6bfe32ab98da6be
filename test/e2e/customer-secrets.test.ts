import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, test } from "node:test";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { type Mailbox, openMailbox } from "../support/customers/mailbox.ts";
import { startTurnstileServer, TURNSTILE_SECRET, type TurnstileServer } from "../support/customers/turnstile-server.ts";
import { quietLog } from "../support/quiet-log.ts";
import {
  eventually,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

const BANNER_WITH_KEY = /^ {2}(?:Demo keys {2}| {11})(?:free|pro|enterprise) +plx_|^ {2}Try: curl /;
const SMTP_PASSWORD = "smtp-canary-password";

let folder: { path: string; release(): Promise<void> };
let turnstile: TurnstileServer;
let mailbox: Mailbox;
let service: ServiceProcess;
before(async () => {
  folder = await temporaryFolder();
  turnstile = await startTurnstileServer();
  mailbox = await openMailbox({ password: SMTP_PASSWORD });
  service = await startServiceProcess({
    dataDir: folder.path,
    isReady: false,
    env: {
      ...{
        PARALLAX_SANDBOX_MARKETS: "10",
        PARALLAX_LOG_LEVEL: "debug",
        PARALLAX_METRICS_TOKEN: "metrics-canary-token",
      },
      ...{ PARALLAX_TURNSTILE_SECRET: TURNSTILE_SECRET, PARALLAX_TURNSTILE_URL: turnstile.url },
      ...{ PARALLAX_PUBLIC_URL: "https://parallax.example", PARALLAX_MAIL_FROM: "Parallax <hello@parallax.example>" },
      PARALLAX_SMTP_URL: `smtp://postmaster:${SMTP_PASSWORD}@127.0.0.1:${mailbox.port}`,
    },
  });
});
after(async () => {
  await service.end("SIGKILL");
  await mailbox.close();
  await turnstile.close();
  await folder.release();
});

const readable = (value: unknown): string =>
  value instanceof Uint8Array
    ? `${Buffer.from(value).toString("latin1")} ${Buffer.from(value).toString("hex")}`
    : (JSON.stringify(value) ?? "");

/** Every row of every table, bytes as text, so that a secret would be found in whatever column it is. */
async function dump(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = current_schema()",
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    for (const row of await database.query(`select * from ${name}`))
      rows.push(Object.values(row).map(readable).join(" "));
  }
  assert.ok(rows.length > 0);
  return rows.join("\n");
}

test("no key, link, token, password or secret is in any log line, answer of fault, metric or table", async () => {
  const secrets = new Set([TURNSTILE_SECRET, SMTP_PASSWORD, "metrics-canary-token", ...Object.values(service.keys)]);
  /** What callers were told beside the one answer that gives them their key. */
  const told: string[] = [];
  const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text) };
  };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const signUp = async (email: string, token: string) => {
    secrets.add(token);
    const answer = await post("/v1/customers/signup", { email, name: "Ada", turnstile_token: token });
    told.push(answer.text);
    return answer.status;
  };

  assert.equal(await signUp("eve@example.org", "turnstile-canary-made-up"), 403);
  assert.equal(await signUp("eve", "turnstile-canary-with-bad-address"), 422);
  turnstile.trouble("500", 2);
  assert.equal(await signUp("eve@example.org", turnstile.issue()), 503);
  mailbox.refuse(451);
  assert.equal(await signUp("ada@example.org", turnstile.issue()), 200);
  const [mail] = await mailbox.received(1);
  const token = /token=([a-z2-7]+)/.exec(mail?.text ?? "")?.[1] ?? "";
  assert.equal(token.length, 26);
  secrets.add(token);
  assert.ok(!(await fetch(`${service.url}/v1/customers/verify?token=${token}x`)).headers.has("location"));
  const verified = await post("/v1/customers/verify", { token });
  const key: string = verified.json.api_key;
  secrets.add(key);
  told.push((await post("/v1/customers/verify", { token })).text);
  told.push((await post("/v1/customers/verify", { token: 5, api_key: key })).text);
  const wrong = `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`;
  secrets.add(wrong);
  told.push((await post("/v1/customers/me/keys", { name: key }, bearer(wrong))).text);
  const robot = await post("/v1/customers/me/keys", { name: "robot" }, bearer(key));
  secrets.add(robot.json.api_key);
  const rotated = await post("/v1/customers/me/keys/rotate", {}, bearer(key));
  const next: string = rotated.json.api_key;
  secrets.add(next);
  told.push((await post("/v1/customers/me/keys/rotate", {}, bearer(key))).text);
  for (const path of ["/v1/customers/me", "/v1/customers/me/keys"])
    told.push((await service.get(path, bearer(next))).text);
  const form = (path: string, fields: Readonly<Record<string, string>>) =>
    fetch(`${service.url}${path}`, {
      ...{ method: "POST", redirect: "manual", body: new URLSearchParams(fields) },
      headers: { origin: "https://parallax.example" },
    });
  assert.equal((await form("/account/sign-in", { email: "ada@example.org" })).status, 200);
  // The others tell of keys: one made, one replaced.
  const letter = (await mailbox.received(4)).find(({ text }) => text?.includes("/account/enter"));
  const link = /enter\?token=([a-z2-7]+)/.exec(letter?.text ?? "")?.[1] ?? "";
  const entered = await form("/account/enter", { token: link });
  const cookie = /^__Host-parallax=([a-z2-7]{26});/.exec(entered.headers.get("set-cookie") ?? "")?.[1] ?? "";
  secrets.add(link).add(cookie);
  const page = await service.get("/account", { cookie: `__Host-parallax=${cookie}` });
  assert.match(page.text, /Sign out/);
  told.push(page.text, await (await form("/account/enter", { token: link })).text());
  const operator = run(process.execPath, ["bin/parallax.mjs", "customers", "show", "ada@example.org"], {
    PARALLAX_DATA_DIR: folder.path,
  });
  assert.equal(await operator.ended, 0);
  told.push(operator.output());
  told.push((await service.get("/metrics", { authorization: "Bearer metrics-canary-token" })).text);
  told.push((await service.get("/metrics", { authorization: "Bearer wrong" })).text);
  await eventually(() => (/tried again/.test(service.output()) ? true : null), "the letter's first refusal in the log");
  assert.equal(await service.end(), 0);

  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  const tables = await dump(database).finally(() => database.close());
  assert.match(tables, /ada@example\.org/);
  assert.ok(tables.includes(hash("sha256", next, "hex")), "also bytes were looked at");
  // The banner shows a sandbox's demo keys to who starts it. Every other line counts, those of a stack trace too.
  const log = service
    .output()
    .split("\n")
    .filter((line) => !BANNER_WITH_KEY.test(line))
    .join("\n");
  assert.match(log, /"route":"\/v1\/customers\/signup"/);
  const places = { log, told: told.join("\n"), tables };
  for (const [place, text] of Object.entries(places))
    for (const secret of secrets) {
      assert.ok(secret.length > 10);
      const parts = secret.startsWith("plx_") ? [secret.slice(-20)] : [secret];
      const hex = parts.map((part) => Buffer.from(part).toString("hex"));
      for (const form of [...parts, ...hex]) assert.ok(!text.includes(form), `${secret.slice(0, 12)}… is in ${place}`);
    }
});
