import { JSON_DEPTH_MAX, JsonBoundError, parseShallowJson } from "./json-depth.ts";

/** Maximum length of a text that is parsed without slicing. */
const WHOLE_CHARACTERS_MAX = 256 * 1024;
/** Number of characters that are scanned, and about as many parsed, between two yields to the event loop. */
const SLICE_CHARACTERS = 128 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;

/** Matches a character other than the four white-space characters of JSON. */
const NOT_BLANK_PATTERN = /[^ \t\n\r]/;

/**
 * Returns the same value as `JSON.parse`. A long text is scanned and parsed in slices, with a yield to the event loop
 * between them. Only a single string or number longer than a slice is parsed as a whole.
 *
 * @param valuesMax maximum number of commas and opening brackets in a long text; limits the number of values
 * @throws SyntaxError if the text is not JSON; JsonBoundError if it exceeds a bound; either of them if both are true
 */
export async function parseJsonInSlices(
  json: string,
  valuesMax: number,
  yieldToEventLoop: () => Promise<void>,
): Promise<unknown> {
  if (json.length <= WHOLE_CHARACTERS_MAX) return parseShallowJson(json);
  const parser = new SliceParser(json, valuesMax);
  for (let end = SLICE_CHARACTERS; end < json.length; end += SLICE_CHARACTERS) {
    parser.scanTo(end);
    await yieldToEventLoop();
  }
  parser.scanTo(json.length);
  return parser.finish();
}

/** A list or object whose end has not been scanned. */
interface OpenValue {
  readonly start: number;
  readonly isList: boolean;
  /** Start of the current member: the position after the opening bracket or the last comma. */
  memberStart: number;
  /** The members parsed so far; null until the value is longer than a slice. */
  members: unknown[] | Record<string, unknown> | null;
  /** Name of this value in the parent object. Valid once `members` is not null. */
  name: string;
  /** Start of the unparsed text. Valid once `members` is not null. */
  restStart: number;
  /** True if a member parsed in slices ends at `restStart`, so that a comma or the closing bracket must follow. */
  isAfterMember: boolean;
}

/** Scans a text once. Values longer than a slice are parsed in slices, all others with `JSON.parse`. */
class SliceParser {
  readonly #json: string;
  readonly #valuesMax: number;
  readonly #open: OpenValue[] = [];
  /** Number of values in `#open`, starting with the outermost, that are parsed in slices. */
  #splitCount = 0;
  /** Start of the unparsed text. */
  #restStart = 0;
  #at = 0;
  #isInString = false;
  #values = 0;
  #isRootClosed = false;
  #root: { readonly value: unknown; readonly end: number } | null = null;

  constructor(json: string, valuesMax: number) {
    this.#json = json;
    this.#valuesMax = valuesMax;
  }

  scanTo(end: number): void {
    const json = this.#json;
    let at = this.#at;
    let isInString = this.#isInString;
    for (; at < end; at++) {
      const code = json.charCodeAt(at);
      if (isInString) {
        if (code === BACKSLASH) at += 1;
        else if (code === QUOTE) isInString = false;
      } else if (code === QUOTE) isInString = true;
      else if (code === COMMA) this.#endMember(at);
      else if (code === LIST_START || code === OBJECT_START) this.#openValue(at, code === LIST_START);
      else if (code === LIST_END || code === OBJECT_END) this.#closeValue(at, code === LIST_END);
    }
    this.#at = at;
    this.#isInString = isInString;
  }

  finish(): unknown {
    if (this.#isInString || this.#open.length > 0) throw new SyntaxError("the JSON text is incomplete");
    if (this.#root === null) return JSON.parse(this.#json);
    this.#expectBlank(this.#root.end, this.#json.length);
    return this.#root.value;
  }

  #openValue(start: number, isList: boolean): void {
    if (this.#isRootClosed) throw new SyntaxError(`unexpected bracket at ${start}`);
    this.#countValue();
    if (this.#open.length >= JSON_DEPTH_MAX) throw new JsonBoundError("nested too deeply");
    this.#open.push({
      start,
      isList,
      memberStart: start + 1,
      members: null,
      name: "",
      restStart: start + 1,
      isAfterMember: false,
    });
  }

  #endMember(at: number): void {
    this.#countValue();
    const value = this.#open.at(-1);
    if (value === undefined) throw new SyntaxError(`unexpected comma at ${at}`);
    if (value.isAfterMember) {
      this.#expectBlank(value.restStart, at);
      value.restStart = at + 1;
      value.isAfterMember = false;
    }
    value.memberStart = at + 1;
    if (at - this.#restStart >= SLICE_CHARACTERS) this.#parseRest(at);
  }

  #closeValue(at: number, isList: boolean): void {
    const value = this.#open.pop();
    if (value === undefined || value.isList !== isList) throw new SyntaxError(`unexpected bracket at ${at}`);
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#isRootClosed = true;
    if (value.members === null) return;
    if (value.isAfterMember) this.#expectBlank(value.restStart, at);
    else this.#parseMembers(value, at);
    this.#splitCount -= 1;
    this.#restStart = at + 1;
    if (parent === undefined) {
      this.#root = { value: value.members, end: at + 1 };
      return;
    }
    addMember(parent, value.name, value.members);
    parent.restStart = at + 1;
    parent.isAfterMember = true;
  }

  /** Parses the complete members. If the current member is longer than a slice, starts to parse it in slices. */
  #parseRest(at: number): void {
    if (this.#splitCount === 0) this.#split();
    for (;;) {
      const value = this.#open[this.#splitCount - 1];
      if (value === undefined) return;
      if (value.memberStart > value.restStart) {
        this.#parseMembers(value, value.memberStart - 1);
        value.restStart = value.memberStart;
      }
      this.#restStart = value.restStart;
      if (at - value.restStart < SLICE_CHARACTERS || this.#splitCount === this.#open.length) return;
      this.#split();
    }
  }

  /** Starts to parse the next open value in slices, after parsing all members before it in its parent. */
  #split(): void {
    const parent = this.#open[this.#splitCount - 1];
    const value = this.#open[this.#splitCount];
    if (value === undefined) return;
    if (parent?.isAfterMember === true) throw new SyntaxError(`a comma is missing before ${value.start}`);
    if (parent === undefined || parent.isList) this.#expectBlank(parent?.restStart ?? 0, value.start);
    else {
      const member: object = JSON.parse(`{${this.#json.slice(parent.restStart, value.start)}null}`);
      value.name = Object.keys(member)[0] ?? "";
    }
    value.members = value.isList ? [] : {};
    this.#splitCount += 1;
  }

  #parseMembers(value: OpenValue, end: number): void {
    const text = this.#json.slice(value.restStart, end);
    // An empty list or object is valid, but an empty member is not.
    if (!NOT_BLANK_PATTERN.test(text)) throw new SyntaxError(`a value is missing at ${end}`);
    if (value.isList) for (const member of JSON.parse(`[${text}]`)) addMember(value, "", member);
    else for (const [name, member] of Object.entries(JSON.parse(`{${text}}`))) addMember(value, name, member);
  }

  #expectBlank(start: number, end: number): void {
    if (NOT_BLANK_PATTERN.test(this.#json.slice(start, end))) throw new SyntaxError(`unexpected text after ${start}`);
  }

  #countValue(): void {
    this.#values += 1;
    if (this.#values > this.#valuesMax) throw new JsonBoundError("too many values");
  }
}

function addMember({ members }: OpenValue, name: string, member: unknown): void {
  if (Array.isArray(members)) members.push(member);
  else if (members !== null && name !== "__proto__") members[name] = member;
  // Assigning to `__proto__` would set the prototype.
  else if (members !== null)
    Object.defineProperty(members, name, { value: member, writable: true, enumerable: true, configurable: true });
}
