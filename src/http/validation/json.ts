/** Maximum nesting depth of a request body. */
export const JSON_DEPTH_MAX = 64;

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  /** `position` counts code points from the start; `error` is the message of Python's decoder. */
  | { readonly ok: false; readonly position: number; readonly error: string };

/**
 * Parses JSON strictly. Errors have the message and position of Python's `json` module, which existing clients expect.
 * Stricter than `JSON.parse` for ambiguous or dangerous input: rejects duplicate keys, a key `__proto__`, and nesting above
 * `JSON_DEPTH_MAX`.
 */
export function parseJson(text: string): JsonResult {
  try {
    return { ok: true, value: new JsonReader(text).document() };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { ok: false, position: codePointsBefore(text, error.index), error: error.message };
  }
}

class JsonTextError extends Error {
  readonly index: number;

  constructor(message: string, index: number) {
    super(message);
    this.index = index;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string.
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const HEX4 = /^[0-9a-fA-F]{4}$/;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    if (this.#text.startsWith("\ufeff")) throw new JsonTextError("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    this.#skipSpace();
    const value = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw new JsonTextError("Extra data", this.#at);
    return value;
  }

  #value(depth: number): unknown {
    const start = this.#at;
    const first = this.#text[start];
    if (first === '"') return this.#string();
    if (first === "{" || first === "[") {
      if (depth >= JSON_DEPTH_MAX) throw new JsonTextError(`Nested deeper than ${JSON_DEPTH_MAX} levels`, start);
      return first === "{" ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (first === "t" && this.#text.startsWith("true", start)) return this.#literal(4, true);
    if (first === "f" && this.#text.startsWith("false", start)) return this.#literal(5, false);
    if (first === "n" && this.#text.startsWith("null", start)) return this.#literal(4, null);
    NUMBER.lastIndex = start;
    const number = NUMBER.exec(this.#text)?.[0];
    if (number === undefined) throw new JsonTextError("Expecting value", start);
    return this.#literal(number.length, Number(number));
  }

  #object(depth: number): unknown {
    const result: Record<string, unknown> = {};
    this.#at += 1;
    this.#skipSpace();
    if (this.#text[this.#at] === "}") return this.#literal(1, result);
    for (;;) {
      const start = this.#at;
      if (this.#text[start] !== '"') {
        throw new JsonTextError("Expecting property name enclosed in double quotes", start);
      }
      const key = this.#string();
      if (key === "__proto__") throw new JsonTextError("Key '__proto__' is not allowed", start);
      if (Object.hasOwn(result, key)) throw new JsonTextError("Duplicate key", start);
      this.#skipSpace();
      if (this.#text[this.#at] !== ":") throw new JsonTextError("Expecting ':' delimiter", this.#at);
      this.#at += 1;
      this.#skipSpace();
      result[key] = this.#value(depth);
      this.#skipSpace();
      if (this.#text[this.#at] === "}") return this.#literal(1, result);
      if (this.#text[this.#at] !== ",") throw new JsonTextError("Expecting ',' delimiter", this.#at);
      this.#at += 1;
      this.#skipSpace();
    }
  }

  #array(depth: number): unknown {
    const result: unknown[] = [];
    this.#at += 1;
    this.#skipSpace();
    if (this.#text[this.#at] === "]") return this.#literal(1, result);
    for (;;) {
      result.push(this.#value(depth));
      this.#skipSpace();
      if (this.#text[this.#at] === "]") return this.#literal(1, result);
      if (this.#text[this.#at] !== ",") throw new JsonTextError("Expecting ',' delimiter", this.#at);
      this.#at += 1;
      this.#skipSpace();
    }
  }

  #string(): string {
    const start = this.#at;
    let result = "";
    this.#at += 1;
    for (;;) {
      PLAIN_CHARACTERS.lastIndex = this.#at;
      const plain = PLAIN_CHARACTERS.exec(this.#text)?.[0] ?? "";
      result += plain;
      this.#at += plain.length;
      const next = this.#text[this.#at];
      if (next === undefined) throw new JsonTextError("Unterminated string starting at", start);
      if (next === '"') return this.#literal(1, result);
      if (next !== "\\") throw new JsonTextError("Invalid control character at", this.#at);
      result += this.#escape(start);
    }
  }

  #escape(start: number): string {
    const letter = this.#text[this.#at + 1];
    if (letter === undefined) throw new JsonTextError("Unterminated string starting at", start);
    if (letter === "u") {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!HEX4.test(digits) || this.#at + 6 >= this.#text.length) {
        throw new JsonTextError("Invalid \\uXXXX escape", this.#at + 1);
      }
      return this.#literal(6, String.fromCharCode(Number.parseInt(digits, 16)));
    }
    const character = ESCAPES[letter];
    if (character === undefined) throw new JsonTextError("Invalid \\escape", this.#at);
    return this.#literal(2, character);
  }

  /** Advances by `length` characters and returns `value`. */
  #literal<Value>(length: number, value: Value): Value {
    this.#at += length;
    return value;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }
}

function codePointsBefore(text: string, index: number): number {
  let count = 0;
  for (let at = 0; at < index; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}
