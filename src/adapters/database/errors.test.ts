import assert from "node:assert/strict";
import { test } from "node:test";
import { findEngineDamage } from "./errors.ts";

const createSqlError = (severity: string, code: string) => Object.assign(new Error("failed"), { severity, code });

test("a failure of the WebAssembly machine, a panic and a fatal error damage the engine's memory", () => {
  for (const error of [
    new Error("memory access out of bounds"),
    new Error("unreachable"),
    new Error("PGlite failed to initialize properly"),
    Object.assign(new Error("too many open files"), { code: "EMFILE" }),
    createSqlError("PANIC", "53100"),
    createSqlError("FATAL", "57P01"),
    "aborted",
    undefined,
  ]) {
    assert.equal(findEngineDamage(error), "memory", String(error));
  }
});

test("a file that exists but cannot be created damages the engine's files", () => {
  assert.equal(findEngineDamage(createSqlError("ERROR", "58P02")), "files");
});

test("an invalid statement, a full disk and a lack of descriptors do not damage the engine", () => {
  for (const code of ["23505", "42703", "53100", "53000", "57014"]) {
    assert.equal(findEngineDamage(createSqlError("ERROR", code)), null, code);
  }
});
