import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError, VenueError } from "../../domain/errors.ts";
import { decodeError, encodeError } from "./error-codec.ts";

/** Returns the error as the other thread receives it. */
const sendError = (error: unknown): Error => decodeError(structuredClone(encodeError(error)));

test("an error with a public message keeps its class, code, message and details in the other thread", () => {
  const sent = sendError(new AppError("overloaded", "Try again later.", { details: { retryAfterSeconds: 3 } }));
  assert.ok(sent instanceof AppError);
  assert.deepEqual(
    [sent.code, sent.message, sent.details],
    ["overloaded", "Try again later.", { retryAfterSeconds: 3 }],
  );
});

test("an error of a venue keeps its class and its fields in the other thread, also without an HTTP status", () => {
  for (const status of [null, 503]) {
    const fields = { retryable: true, retryAfterMs: 4_000, ...(status !== null && { status }) };
    const sent = sendError(new VenueError("server_error", "broken", fields));
    assert.ok(sent instanceof VenueError);
    const { failure, message, retryable, retryAfterMs } = sent;
    assert.deepEqual(
      [failure, message, sent.status, retryable, retryAfterMs],
      ["server_error", "broken", status, true, 4_000],
    );
  }
});

test("another error is no public error in the other thread, and its message contains its name, its message and its place", () => {
  const sent = sendError(new RangeError("too many"));
  assert.ok(!(sent instanceof AppError || sent instanceof VenueError));
  assert.match(sent.message, /RangeError: too many\n.*error-codec\.test\.ts/);
  assert.match(sendError("a text").message, /a text$/);
});
