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

const BANNER_KEY_LINE_PATTERN = /^ {2}(?:Demo keys {2}| {11})(?:free|pro|enterprise) +plx_|^ {2}Try: curl /;
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
      PARALLAX_SANDBOX_MARKETS: "10",
      PARALLAX_LOG_LEVEL: "debug",
      PARALLAX_METRICS_TOKEN: "metrics-canary-token",
      PARALLAX_TURNSTILE_SECRET: TURNSTILE_SECRET,
      PARALLAX_TURNSTILE_URL: turnstile.url,
      PARALLAX_PUBLIC_URL: "https://parallax.example",
      PARALLAX_MAIL_FROM: "Parallax <hello@parallax.example>",
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

const toText = (value: unknown): string =>
  value instanceof Uint8Array
    ? `${Buffer.from(value).toString("latin1")} ${Buffer.from(value).toString("hex")}`
    : (JSON.stringify(value) ?? "");

/** Returns all rows of all tables as text, including binary columns. */
async function dumpTables(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = current_schema()",
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    for (const row of await database.query(`select * from ${name}`))
      rows.push(Object.values(row).map(toText).join(" "));
  }
  assert.ok(rows.length > 0);
  return rows.join("\n");
}

test("no log line, unrelated response, metric or table contains a key, token, password or secret", async () => {
  const secrets = new Set([TURNSTILE_SECRET, SMTP_PASSWORD, "metrics-canary-token", ...Object.values(service.keys)]);
  /** All responses and command output, except responses that return a new key. */
  const outputs: string[] = [];
  const postJson = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text) };
  };
  const createBearerHeader = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
  const signUp = async (email: string, token: string) => {
    secrets.add(token);
    const response = await postJson("/v1/customers/signup", { email, name: "Ada", turnstile_token: token });
    outputs.push(response.text);
    return response.status;
  };

  assert.equal(await signUp("eve@example.org", "turnstile-canary-unknown"), 403);
  assert.equal(await signUp("eve", "turnstile-canary-with-bad-address"), 422);
  turnstile.failNext("500", 2);
  assert.equal(await signUp("eve@example.org", turnstile.issue()), 503);
  mailbox.refuse(451);
  assert.equal(await signUp("ada@example.org", turnstile.issue()), 200);
  const [mail] = await mailbox.received(1);
  const token = /token=([a-z2-7]+)/.exec(mail?.text ?? "")?.[1] ?? "";
  assert.equal(token.length, 26);
  secrets.add(token);
  assert.ok(!(await fetch(`${service.url}/v1/customers/verify?token=${token}x`)).headers.has("location"));
  const verifyResponse = await postJson("/v1/customers/verify", { token });
  const apiKey: string = verifyResponse.json.api_key;
  secrets.add(apiKey);
  outputs.push((await postJson("/v1/customers/verify", { token })).text);
  outputs.push((await postJson("/v1/customers/verify", { token: 5, api_key: apiKey })).text);
  const invalidKey = `${apiKey.slice(0, -1)}${apiKey.endsWith("a") ? "b" : "a"}`;
  secrets.add(invalidKey);
  outputs.push((await postJson("/v1/customers/me/keys", { name: apiKey }, createBearerHeader(invalidKey))).text);
  const robotResponse = await postJson("/v1/customers/me/keys", { name: "robot" }, createBearerHeader(apiKey));
  secrets.add(robotResponse.json.api_key);
  const rotateResponse = await postJson("/v1/customers/me/keys/rotate", {}, createBearerHeader(apiKey));
  const nextKey: string = rotateResponse.json.api_key;
  secrets.add(nextKey);
  outputs.push((await postJson("/v1/customers/me/keys/rotate", {}, createBearerHeader(apiKey))).text);
  for (const path of ["/v1/customers/me", "/v1/customers/me/keys"])
    outputs.push((await service.get(path, createBearerHeader(nextKey))).text);
  const submitForm = (path: string, fields: Readonly<Record<string, string>>) =>
    fetch(`${service.url}${path}`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(fields),
      headers: { origin: "https://parallax.example" },
    });
  assert.equal((await submitForm("/account/sign-in", { email: "ada@example.org" })).status, 200);
  // Three of the four e-mails concern the verification and the key changes.
  const signInMail = (await mailbox.received(4)).find(({ text }) => text?.includes("/account/enter"));
  const linkToken = /enter\?token=([a-z2-7]+)/.exec(signInMail?.text ?? "")?.[1] ?? "";
  const enterResponse = await submitForm("/account/enter", { token: linkToken });
  const cookie = /^__Host-parallax=([a-z2-7]{26});/.exec(enterResponse.headers.get("set-cookie") ?? "")?.[1] ?? "";
  secrets.add(linkToken).add(cookie);
  const page = await service.get("/account", { cookie: `__Host-parallax=${cookie}` });
  assert.match(page.text, /Sign out/);
  outputs.push(page.text, await (await submitForm("/account/enter", { token: linkToken })).text());
  const showCommand = run(process.execPath, ["bin/parallax.mjs", "customers", "show", "ada@example.org"], {
    PARALLAX_DATA_DIR: folder.path,
  });
  assert.equal(await showCommand.ended, 0);
  outputs.push(showCommand.output());
  outputs.push((await service.get("/metrics", { authorization: "Bearer metrics-canary-token" })).text);
  outputs.push((await service.get("/metrics", { authorization: "Bearer wrong" })).text);
  await eventually(() => (/retrying later/.test(service.output()) ? true : null), "the first failed e-mail in the log");
  assert.equal(await service.end(), 0);

  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  const tables = await dumpTables(database).finally(() => database.close());
  assert.match(tables, /ada@example\.org/);
  assert.ok(tables.includes(hash("sha256", nextKey, "hex")), "binary columns are included");
  // The start banner of a sandbox prints the demo keys. All other lines are checked, including stack traces.
  const log = service
    .output()
    .split("\n")
    .filter((line) => !BANNER_KEY_LINE_PATTERN.test(line))
    .join("\n");
  assert.match(log, /"route":"\/v1\/customers\/signup"/);
  const sources = { log, outputs: outputs.join("\n"), tables };
  for (const [source, text] of Object.entries(sources))
    for (const secret of secrets) {
      assert.ok(secret.length > 10);
      const searchTexts = secret.startsWith("plx_") ? [secret.slice(-20)] : [secret];
      const hexTexts = searchTexts.map((part) => Buffer.from(part).toString("hex"));
      for (const encoded of [...searchTexts, ...hexTexts])
        assert.ok(!text.includes(encoded), `${secret.slice(0, 12)}… is in ${source}`);
    }
});
