import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEnvironment } from "../../test/support/config.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import type { Environment } from "../config/settings-reader.ts";
import { loadSignUpSettings } from "./sign-up-settings.ts";

const http = { send: () => Promise.reject(new Error("no request is expected")) };

async function displaysLinks(environment: Environment): Promise<boolean | undefined> {
  const closers: (() => unknown)[] = [];
  const { account } = await loadSignUpSettings(parseEnvironment(environment), { http, log: quietLog, closers });
  for (const close of closers) await close();
  return account.displaysLinks;
}

test("sign-in links are displayed only in a sandbox that is not public and has no mail server", async () => {
  const PARALLAX_PUBLIC_URL = "https://demo.example.org";
  const mail = { PARALLAX_SMTP_URL: "smtp://127.0.0.1:25", PARALLAX_MAIL_FROM: "a@example.org" };
  assert.equal(await displaysLinks({}), true);
  assert.equal(await displaysLinks({ PARALLAX_PUBLIC_URL: "http://localhost:8787" }), true);
  for (const environment of [
    { PARALLAX_MODE: "live" },
    { PARALLAX_SANDBOX_PUBLIC: "1" },
    { PARALLAX_SANDBOX_PUBLIC: "1", PARALLAX_HOST: "0.0.0.0", PARALLAX_PUBLIC_URL: "http://localhost:8787" },
    { PARALLAX_PUBLIC_URL },
    { ...mail, PARALLAX_PUBLIC_URL },
  ])
    assert.equal(await displaysLinks(environment), false, JSON.stringify(environment));
});
