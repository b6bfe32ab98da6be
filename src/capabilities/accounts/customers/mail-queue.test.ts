import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../../test/support/test-app.ts";
import { MailError } from "../../../domain/errors.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { OutgoingMail } from "../../../ports/mail-out.ts";
import { createMailQueue } from "./mail-queue.ts";

const createMail = (subject: string): OutgoingMail => ({
  to: "ada@example.org",
  subject,
  text: "secret-link",
  html: "",
});

/** Creates a queue whose mail server returns the outcomes in order and then accepts every e-mail. */
function setUp(options: { queuedMax?: number } = {}) {
  const clock = new FakeClock();
  const { log, lines } = recordingLog();
  const outcomes: (Error | Promise<void>)[] = [];
  const attemptedSubjects: string[] = [];
  const mailOut = {
    async send({ subject }: OutgoingMail) {
      attemptedSubjects.push(subject);
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
    attempted: attemptedSubjects,
    queue: createMailQueue({ mail: mailOut, publicUrl: "", clock, random, log, ...options }),
  };
}

const createTemporaryError = () => new MailError("busy (451)", { retryable: true });

test("a failed e-mail is retried five times with growing delays and then discarded", async () => {
  const { clock, queue, outcomes, attempted: attemptedSubjects, lines } = setUp();
  for (let attempt = 0; attempt < 9; attempt++) outcomes.push(createTemporaryError());
  queue.reserve()?.send(createMail("a"));
  await clock.advance(HOUR_MS);
  assert.equal(attemptedSubjects.length, 6);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["warn", "warn", "warn", "warn", "warn", "error"],
  );
  assert.doesNotMatch(JSON.stringify(lines), /ada@example|secret-link/);
});

test("an e-mail is retried after a temporary failure, but not after a permanent one", async () => {
  const { clock, queue, outcomes, attempted: attemptedSubjects } = setUp();
  outcomes.push(new MailError("no such mailbox (550)", { retryable: false }), createTemporaryError());
  queue.reserve()?.send(createMail("a"));
  queue.reserve()?.send(createMail("b"));
  await clock.advance(HOUR_MS);
  assert.deepEqual(attemptedSubjects, ["a", "b", "b"]);
});

test("a full queue rejects reservations until a slot is released or its e-mail is sent", async () => {
  const { clock, queue } = setUp({ queuedMax: 2 });
  const firstSlot = queue.reserve();
  const secondSlot = queue.reserve();
  assert.equal(queue.reserve(), null);
  secondSlot?.release();
  secondSlot?.release();
  const thirdSlot = queue.reserve();
  assert.notEqual(thirdSlot, null);
  assert.equal(queue.reserve(), null);
  firstSlot?.send(createMail("a"));
  thirdSlot?.send(createMail("b"));
  thirdSlot?.send(createMail("twice"));
  await clock.settle();
  assert.notEqual(queue.reserve(), null);
});

test("at most four e-mails are sent concurrently", async () => {
  const { clock, queue, outcomes, attempted: attemptedSubjects } = setUp();
  const sendBlocker = Promise.withResolvers<void>();
  for (let i = 0; i < 4; i++) outcomes.push(sendBlocker.promise);
  for (let i = 0; i < 6; i++) queue.reserve()?.send(createMail(String(i)));
  await clock.settle();
  assert.equal(attemptedSubjects.length, 4);
  sendBlocker.resolve();
  await clock.settle();
  assert.equal(attemptedSubjects.length, 6);
});

test("stop retries queued e-mails once, waits at most two seconds for the mail server and rejects new e-mails", async () => {
  const { clock, queue, outcomes, attempted: attemptedSubjects, lines } = setUp();
  outcomes.push(createTemporaryError());
  queue.reserve()?.send(createMail("a"));
  await clock.settle();
  await clock.until(queue.stop());
  assert.deepEqual(attemptedSubjects, ["a", "a"]);
  assert.equal(queue.reserve(), null);
  const hangingSetup = setUp();
  hangingSetup.outcomes.push(new Promise(() => {}));
  hangingSetup.queue.reserve()?.send(createMail("b"));
  const startedAt = hangingSetup.clock.now();
  await hangingSetup.clock.until(hangingSetup.queue.stop());
  assert.equal(hangingSetup.clock.now() - startedAt, 2_000);
  assert.match(String(hangingSetup.lines.at(-1)?.message), /lost/);
  assert.equal(lines.filter(({ level }) => level === "error").length, 0);
});
