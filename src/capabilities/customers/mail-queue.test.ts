import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { MailError } from "../../domain/errors.ts";
import type { OutgoingMail } from "../../ports/mail-out.ts";
import { createMailQueue } from "./mail-queue.ts";

const letter = (subject: string): OutgoingMail => ({ to: "ada@example.org", subject, text: "secret-link", html: "" });

/** A queue over a server that answers as told, one answer a letter, and takes it where nothing was told. */
function bench(options: { waitingMax?: number } = {}) {
  const clock = new FakeClock();
  const { log, lines } = recordingLog();
  const answers: (Error | Promise<void>)[] = [];
  const tried: string[] = [];
  const mail = {
    async send({ subject }: OutgoingMail) {
      tried.push(subject);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      await answer;
    },
    close: async () => {},
  };
  const random = { uniform: () => 1, bytes: (length: number) => new Uint8Array(length) };
  return { clock, lines, answers, tried, queue: createMailQueue({ mail, clock, random, log, ...options }) };
}

const passing = () => new MailError("busy (451)", { retryable: true });

test("a letter that could not be sent is tried again at growing distances, five times, and then given up", async () => {
  const { clock, queue, answers, tried, lines } = bench();
  for (let turn = 0; turn < 9; turn++) answers.push(passing());
  queue.reserve()?.send(letter("a"));
  await clock.advance(3_600_000);
  assert.equal(tried.length, 6);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["warn", "warn", "warn", "warn", "warn", "error"],
  );
  assert.doesNotMatch(JSON.stringify(lines), /ada@example|secret-link/);
});

test("a letter that is refused for good is not tried again, one that is refused for now arrives", async () => {
  const { clock, queue, answers, tried } = bench();
  answers.push(new MailError("no such mailbox (550)", { retryable: false }), passing());
  queue.reserve()?.send(letter("a"));
  queue.reserve()?.send(letter("b"));
  await clock.advance(3_600_000);
  assert.deepEqual(tried, ["a", "b", "b"]);
});

test("no more letters wait than there is room for, and room that is given back or used up is room again", async () => {
  const { clock, queue } = bench({ waitingMax: 2 });
  const first = queue.reserve();
  const second = queue.reserve();
  assert.equal(queue.reserve(), null);
  second?.release();
  second?.release();
  const third = queue.reserve();
  assert.notEqual(third, null);
  assert.equal(queue.reserve(), null);
  first?.send(letter("a"));
  third?.send(letter("b"));
  third?.send(letter("twice"));
  await clock.settle();
  assert.notEqual(queue.reserve(), null);
});

test("four letters are under way at once", async () => {
  const { clock, queue, answers, tried } = bench();
  const held = Promise.withResolvers<void>();
  for (let turn = 0; turn < 4; turn++) answers.push(held.promise);
  for (let turn = 0; turn < 6; turn++) queue.reserve()?.send(letter(String(turn)));
  await clock.settle();
  assert.equal(tried.length, 4);
  held.resolve();
  await clock.settle();
  assert.equal(tried.length, 6);
});

test("at the end what waits is tried once more, what hangs is not waited for, and nothing new is taken", async () => {
  const { clock, queue, answers, tried, lines } = bench();
  answers.push(passing());
  queue.reserve()?.send(letter("a"));
  await clock.settle();
  await clock.until(queue.stop());
  assert.deepEqual(tried, ["a", "a"]);
  assert.equal(queue.reserve(), null);
  const hanging = bench();
  hanging.answers.push(new Promise(() => {}));
  hanging.queue.reserve()?.send(letter("b"));
  await hanging.clock.until(hanging.queue.stop());
  assert.match(String(hanging.lines.at(-1)?.message), /lost/);
  assert.equal(lines.filter(({ level }) => level === "error").length, 0);
});
