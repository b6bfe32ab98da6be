import assert from "node:assert/strict";
import { test } from "node:test";
import { isNestedDeeper } from "./json-depth.ts";

test("counts the nesting of lists and objects together", () => {
  assert.equal(isNestedDeeper('[{"a":[]}]', 3), false);
  assert.equal(isNestedDeeper('[{"a":[]}]', 2), true);
  assert.equal(isNestedDeeper("[[],[],{},[]]", 2), false);
});

test("ignores brackets within strings, also after escaped quotes and backslashes", () => {
  assert.equal(isNestedDeeper(JSON.stringify(["[[[[", '"[[[[', "\\", "[[[["]), 1), false);
  assert.equal(isNestedDeeper(JSON.stringify(["\\", [[]]]), 2), true);
  for (const text of ['\\"[[', '\\\\"[[', '""[[', "\\\\\\", '[["\\'])
    assert.equal(isNestedDeeper(JSON.stringify([text, text]), 1), false, text);
});

test("ends at a text that is not JSON", () => {
  for (const text of ["", '"', '"\\', "]]]]", '["a']) assert.equal(isNestedDeeper(text, 1), false);
});
