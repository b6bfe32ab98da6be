import assert from "node:assert/strict";
import { test } from "node:test";
import { describeDatabaseError, describeListenError } from "./startup-errors.ts";

const URL_WITH_SECRETS = "postgres://someone:s3cr%2Ft@db.example:5433/markets?password=other-secret";

test("databaseError contains the server and the innermost cause", () => {
  const refusedError = new AggregateError([new Error("connect ECONNREFUSED 192.0.2.1:5433"), new Error("second")]);
  const error = new Error("The store cannot be reached at the moment.", { cause: refusedError });
  assert.equal(
    describeDatabaseError(URL_WITH_SECRETS, error),
    "The database at db.example:5433/markets cannot be used (connect ECONNREFUSED 192.0.2.1:5433). Check DATABASE_URL and the server.",
  );
});

test("databaseError removes credentials that the driver's message repeats", () => {
  const message = describeDatabaseError(
    URL_WITH_SECRETS,
    new Error('password authentication failed for user "someone" with s3cr/t, s3cr%2Ft, other-secret\nsecond line'),
  );
  for (const secret of ["someone", "s3cr", "other-secret", "second line"])
    assert.ok(!message.includes(secret), message);
  assert.match(message, /password authentication failed/);
});

test("listenError contains the setting to change", () => {
  const createSystemError = (code: string) => Object.assign(new Error(`listen ${code}`), { code });
  const address = { host: "127.0.0.1", port: 8787 };
  assert.match(
    describeListenError(address, createSystemError("EADDRINUSE")),
    /^127\.0\.0\.1:8787 is in use .* PARALLAX_PORT/,
  );
  assert.match(
    describeListenError(address, createSystemError("EACCES")),
    /may not listen on 127\.0\.0\.1:8787.*PARALLAX_PORT/,
  );
  assert.match(
    describeListenError(address, createSystemError("EADDRNOTAVAIL")),
    /not an address of this machine.*PARALLAX_HOST/,
  );
  assert.equal(describeListenError(address, new Error("unknown")), "Cannot listen on 127.0.0.1:8787 (unknown).");
});
