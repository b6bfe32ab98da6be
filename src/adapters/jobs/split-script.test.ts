import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { splitScript } from "./split-script.ts";

test("a semicolon in a string, a name, a function body or a comment does not end a statement", () => {
  const statements = [
    "select 'a;b', 'it''s;'",
    'select 1 as "x;""y"',
    "create function f() returns int as $$ begin; return 1; end; $$ language sql",
    "create function g() returns text as $body$ select $$;$$; $body$ language sql",
    "select 1 -- one; two\n+ 1",
    "select /* a; b */ 2",
  ];
  assert.deepEqual(splitScript(`${statements.join(";\n")};\n ;`), statements);
  assert.deepEqual(splitScript(" \n"), []);
});

test("splitting joined statements without special characters returns the original statements", () => {
  const statement = fc.stringMatching(/^[a-z][a-z0-9 ]{0,20}[a-z]$/);
  fc.assert(
    fc.property(fc.array(statement), (statements) => {
      assert.deepEqual(splitScript(statements.join(";")), statements);
    }),
  );
});
