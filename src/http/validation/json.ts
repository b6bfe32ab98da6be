/** Maximum nesting depth of a request body. */
export const JSON_DEPTH_MAX = 64;

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  /** `position` is the number of code points before the error; `error` is the message of Python's decoder. */
  | { readonly ok: false; readonly position: number; readonly error: string };

/**
 * Parses JSON strictly. Errors have the message and position of Python's `json` module, which existing clients expect.
 * Stricter than `JSON.parse` for ambiguous or dangerous input: rejects duplicate keys, a key `__proto__`, and nesting
 * above `JSON_DEPTH_MAX`.
 */
export function parseJson(text: string): JsonResult {
  try {
    return { ok: true, value: new JsonReader(text).readDocument() };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { ok: false, position: countCodePointsBefore(text, error.index), error: error.message };
  }
}

class JsonTextError extends Error {
  readonly index: number;

  constructor(message: string, index: number) {
    super(message);
    this.index = index;
  }
}

const NUMBER_PATTERN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids these characters inside a string.
const PLAIN_CHARACTERS_PATTERN = /[^"\\\u0000-\u001f]*/y;
const HEX4_PATTERN = /^[0-9a-fA-F]{4}$/;
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
  #index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): unknown {
    if (this.#text.startsWith("\ufeff")) throw new JsonTextError("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    this.#skipSpace();
    const value = this.#readValue(0);
    this.#skipSpace();
    if (this.#index < this.#text.length) throw new JsonTextError("Extra data", this.#index);
    return value;
  }

  #readValue(depth: number): unknown {
    const start = this.#index;
    const first = this.#text[start];
    if (first === '"') return this.#readString();
    if (first === "{" || first === "[") {
      if (depth >= JSON_DEPTH_MAX) throw new JsonTextError(`Nested deeper than ${JSON_DEPTH_MAX} levels`, start);
      return first === "{" ? this.#readObject(depth + 1) : this.#readArray(depth + 1);
    }
    if (first === "t" && this.#text.startsWith("true", start)) return this.#advance(4, true);
    if (first === "f" && this.#text.startsWith("false", start)) return this.#advance(5, false);
    if (first === "n" && this.#text.startsWith("null", start)) return this.#advance(4, null);
    NUMBER_PATTERN.lastIndex = start;
    const number = NUMBER_PATTERN.exec(this.#text)?.[0];
    if (number === undefined) throw new JsonTextError("Expecting value", start);
    return this.#advance(number.length, Number(number));
  }

  #readObject(depth: number): unknown {
    const result: Record<string, unknown> = {};
    this.#index += 1;
    this.#skipSpace();
    if (this.#text[this.#index] === "}") return this.#advance(1, result);
    for (;;) {
      const start = this.#index;
      if (this.#text[start] !== '"') {
        throw new JsonTextError("Expecting property name enclosed in double quotes", start);
      }
      const key = this.#readString();
      if (key === "__proto__") throw new JsonTextError("Key '__proto__' is not allowed", start);
      if (Object.hasOwn(result, key)) throw new JsonTextError("Duplicate key", start);
      this.#skipSpace();
      if (this.#text[this.#index] !== ":") throw new JsonTextError("Expecting ':' delimiter", this.#index);
      this.#index += 1;
      this.#skipSpace();
      result[key] = this.#readValue(depth);
      this.#skipSpace();
      if (this.#text[this.#index] === "}") return this.#advance(1, result);
      if (this.#text[this.#index] !== ",") throw new JsonTextError("Expecting ',' delimiter", this.#index);
      this.#index += 1;
      this.#skipSpace();
    }
  }

  #readArray(depth: number): unknown {
    const result: unknown[] = [];
    this.#index += 1;
    this.#skipSpace();
    if (this.#text[this.#index] === "]") return this.#advance(1, result);
    for (;;) {
      result.push(this.#readValue(depth));
      this.#skipSpace();
      if (this.#text[this.#index] === "]") return this.#advance(1, result);
      if (this.#text[this.#index] !== ",") throw new JsonTextError("Expecting ',' delimiter", this.#index);
      this.#index += 1;
      this.#skipSpace();
    }
  }

  #readString(): string {
    const start = this.#index;
    let result = "";
    this.#index += 1;
    for (;;) {
      PLAIN_CHARACTERS_PATTERN.lastIndex = this.#index;
      const plain = PLAIN_CHARACTERS_PATTERN.exec(this.#text)?.[0] ?? "";
      result += plain;
      this.#index += plain.length;
      const next = this.#text[this.#index];
      if (next === undefined) throw new JsonTextError("Unterminated string starting at", start);
      if (next === '"') return this.#advance(1, result);
      if (next !== "\\") throw new JsonTextError("Invalid control character at", this.#index);
      result += this.#readEscape(start);
    }
  }

  #readEscape(start: number): string {
    const letter = this.#text[this.#index + 1];
    if (letter === undefined) throw new JsonTextError("Unterminated string starting at", start);
    if (letter === "u") {
      const digits = this.#text.slice(this.#index + 2, this.#index + 6);
      if (!HEX4_PATTERN.test(digits) || this.#index + 6 >= this.#text.length) {
        throw new JsonTextError("Invalid \\uXXXX escape", this.#index + 1);
      }
      return this.#advance(6, String.fromCharCode(Number.parseInt(digits, 16)));
    }
    const character = ESCAPES[letter];
    if (character === undefined) throw new JsonTextError("Invalid \\escape", this.#index);
    return this.#advance(2, character);
  }

  /** Advances by `length` characters and returns `value`. */
  #advance<Value>(length: number, value: Value): Value {
    this.#index += length;
    return value;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#index);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#index += 1;
    }
  }
}

function countCodePointsBefore(text: string, index: number): number {
  let count = 0;
  for (let offset = 0; offset < index; count += 1) offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  return count;
}
