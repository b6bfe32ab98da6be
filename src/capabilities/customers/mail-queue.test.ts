import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { MailError } from "../../domain/errors.ts";
import type { OutgoingMail } from "../../ports/mail-out.ts";
import { createMailQueue } from "./mail-queue.ts";

const mail = (subject: string): OutgoingMail => ({ to: "ada@example.org", subject, text: "secret-link", html: "" });

/** A queue with a mail server that returns the scripted outcomes in order and accepts everything after them. */
function setUp(options: { queuedMax?: number } = {}) {
  const clock = new FakeClock();
  const { log, lines } = recordingLog();
  const outcomes: (Error | Promise<void>)[] = [];
  const attempted: string[] = [];
  const mailOut = {
    async send({ subject }: OutgoingMail) {
      attempted.push(subject);
      const outcome = outcomes.shift();
      if (outcome instanceof Error) throw outcome;
      await outcome;
    },
    close: async () => {},
  };
  const random = { uniform: () => 1, bytes: (length: number) => new Uint8Array(length) };
  return {
    clock,
    lines,
    outcomes,
    attempted,
    queue: createMailQueue({ mail: mailOut, clock, random, log, ...options }),
  };
}

const temporaryError = () => new MailError("busy (451)", { retryable: true });

test("a failed e-mail is retried five times with growing delays and then discarded", async () => {
  const { clock, queue, outcomes, attempted, lines } = setUp();
  for (let attempt = 0; attempt < 9; attempt++) outcomes.push(temporaryError());
  queue.reserve()?.send(mail("a"));
  await clock.advance(3_600_000);
  assert.equal(attempted.length, 6);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["warn", "warn", "warn", "warn", "warn", "error"],
  );
  assert.doesNotMatch(JSON.stringify(lines), /ada@example|secret-link/);
});

test("an e-mail is retried after a temporary failure, but not after a permanent one", async () => {
  const { clock, queue, outcomes, attempted } = setUp();
  outcomes.push(new MailError("no such mailbox (550)", { retryable: false }), temporaryError());
  queue.reserve()?.send(mail("a"));
  queue.reserve()?.send(mail("b"));
  await clock.advance(3_600_000);
  assert.deepEqual(attempted, ["a", "b", "b"]);
});

test("the queue has a maximum size, and released or sent slots become free again", async () => {
  const { clock, queue } = setUp({ queuedMax: 2 });
  const first = queue.reserve();
  const second = queue.reserve();
  assert.equal(queue.reserve(), null);
  second?.release();
  second?.release();
  const third = queue.reserve();
  assert.notEqual(third, null);
  assert.equal(queue.reserve(), null);
  first?.send(mail("a"));
  third?.send(mail("b"));
  third?.send(mail("twice"));
  await clock.settle();
  assert.notEqual(queue.reserve(), null);
});

test("at most four e-mails are sent concurrently", async () => {
  const { clock, queue, outcomes, attempted } = setUp();
  const blocker = Promise.withResolvers<void>();
  for (let i = 0; i < 4; i++) outcomes.push(blocker.promise);
  for (let i = 0; i < 6; i++) queue.reserve()?.send(mail(String(i)));
  await clock.settle();
  assert.equal(attempted.length, 4);
  blocker.resolve();
  await clock.settle();
  assert.equal(attempted.length, 6);
});

test("stop retries queued e-mails once, does not wait for hanging ones, and rejects new ones", async () => {
  const { clock, queue, outcomes, attempted, lines } = setUp();
  outcomes.push(temporaryError());
  queue.reserve()?.send(mail("a"));
  await clock.settle();
  await clock.until(queue.stop());
  assert.deepEqual(attempted, ["a", "a"]);
  assert.equal(queue.reserve(), null);
  const hanging = setUp();
  hanging.outcomes.push(new Promise(() => {}));
  hanging.queue.reserve()?.send(mail("b"));
  await hanging.clock.until(hanging.queue.stop());
  assert.match(String(hanging.lines.at(-1)?.message), /lost/);
  assert.equal(lines.filter(({ level }) => level === "error").length, 0);
});
