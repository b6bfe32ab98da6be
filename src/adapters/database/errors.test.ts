import assert from "node:assert/strict";
import { test } from "node:test";
import { findEngineDamage } from "./errors.ts";

const createSqlError = (severity: string, code: string) => Object.assign(new Error("failed"), { severity, code });

test("a WebAssembly error, a panic and a fatal error are classified as damaged memory", () => {
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

test("the error `could not create file: File exists` is classified as damaged files", () => {
  assert.equal(findEngineDamage(createSqlError("ERROR", "58P02")), "files");
});

test("an invalid statement, a full disk and a lack of descriptors are not classified as damage", () => {
  for (const code of ["23505", "42703", "53100", "53000", "57014"]) {
    assert.equal(findEngineDamage(createSqlError("ERROR", code)), null, code);
  }
});
