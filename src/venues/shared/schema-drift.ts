import Type from "typebox";
import { Compile } from "typebox/compile";
import { parseDecimal } from "../../domain/price.ts";
import type { DriftCounter } from "../../ports/venue.ts";

/** What a value must be to be read. `price` is a decimal in [0, 1]; `time` is text or a number. */
export type WireType =
  | "any"
  | "text"
  | "decimal"
  | "price"
  | "flag"
  | "number"
  | "list"
  | "object"
  | "time"
  | "wrapped list";

/** What is documented of one kind of object on a venue's wire. Every name stands once, in the part that says most. */
export interface WireShape {
  /** Every object has these; one that lacks a field, or has null in it, has drifted. */
  readonly needed?: Readonly<Record<string, WireType>>;
  /** Read where they are there: an object may lack them, a whole page of objects may not. */
  readonly usual?: Readonly<Record<string, WireType>>;
  /** Read where they are there. */
  readonly read?: Readonly<Record<string, WireType>>;
  /** Closed vocabularies; "", null and absence are no words. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Documented and not read. */
  readonly unread?: readonly string[];
}

/**
 * Objects looked through as a whole: the first of a page, one in this many, and each that a compiled glance fails. The
 * number shares no factor with page sizes, so that it is another row's turn in each sweep.
 */
const WHOLE_EVERY = 127;
/** Fewer objects than this say nothing about a field that may be absent. */
const PAGE_ROWS_MIN = 20;
const NEW_FIELDS_PER_OBJECT_MAX = 20;

const isFitting: Readonly<Record<WireType, (value: unknown) => boolean>> = {
  any: () => true,
  text: (value) => typeof value === "string",
  decimal: (value) => value === "" || parseDecimal(value) !== null,
  price: (value) => {
    const price = parseDecimal(value);
    return value === "" || (price !== null && price >= 0 && price <= 1);
  },
  flag: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  list: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  time: (value) => typeof value === "number" || typeof value === "string",
  "wrapped list": (value) => Array.isArray(value) || value === "" || (typeof value === "string" && value[0] === "["),
};

const FigureOrText = Type.Union([Type.String(), Type.Number()]);
const AnyList = Type.Array(Type.Unknown());
const AnyObject = Type.Record(Type.String(), Type.Unknown());
/** The same more coarsely: what a glance at every object can afford. */
const glanceTypes: Readonly<Record<WireType, Type.TSchema>> = {
  any: Type.Union([Type.String(), Type.Number(), Type.Boolean(), AnyList, AnyObject]),
  text: Type.String(),
  decimal: FigureOrText,
  price: FigureOrText,
  flag: Type.Boolean(),
  number: Type.Number(),
  list: AnyList,
  object: Type.Object({}),
  time: FigureOrText,
  "wrapped list": Type.Union([AnyList, Type.String()]),
};

/** True for objects that have what is needed and keep to the vocabularies. */
function compileGlance({ needed = {}, words = {} }: WireShape): (value: unknown) => boolean {
  const fields: Record<string, Type.TSchema> = {};
  for (const [name, type] of Object.entries(needed)) fields[name] = glanceTypes[type];
  for (const [name, list] of Object.entries(words)) {
    const word = Type.Union([...list, ""].map((one) => Type.Literal(one)));
    fields[name] = needed[name] === undefined ? Type.Optional(Type.Union([word, Type.Null()])) : word;
  }
  const compiled = Compile(Type.Object(fields));
  return (value) => compiled.Check(value);
}

/**
 * Watches objects of one kind for drift: needed fields that are missing and words outside their vocabulary in every one;
 * unreadable values and fields that are not documented in a sample, and in each that was refused.
 */
export class WireWatch {
  readonly #kind: string;
  readonly #drift: DriftCounter;
  readonly #needed: readonly string[];
  readonly #usual: readonly string[];
  readonly #words: readonly (readonly [name: string, words: ReadonlySet<unknown>])[];
  readonly #worded: ReadonlySet<string>;
  readonly #types: readonly (readonly [name: string, type: WireType])[];
  readonly #known: ReadonlySet<string>;
  readonly #isAsExpected: (value: unknown) => boolean;
  #untilWhole = 0;
  #isFirstOfPage = false;

  constructor(kind: string, shape: WireShape, drift: DriftCounter) {
    const { needed = {}, usual = {}, read = {}, words = {}, unread = [] } = shape;
    this.#kind = kind;
    this.#isAsExpected = compileGlance(shape);
    this.#drift = drift;
    this.#needed = Object.keys(needed);
    this.#usual = Object.keys(usual);
    this.#words = Object.entries(words).map(([name, list]) => [name, new Set<unknown>([...list, "", null, undefined])]);
    this.#worded = new Set(Object.keys(words));
    this.#types = Object.entries({ ...needed, ...usual, ...read });
    this.#known = new Set([...this.#types.map(([name]) => name), ...Object.keys(words), ...unread]);
  }

  /** A page of objects that are about to be checked one by one. */
  page(objects: readonly unknown[]): void {
    this.#isFirstOfPage = true;
    if (objects.length < PAGE_ROWS_MIN) return;
    for (const name of this.#usual) {
      const isThere = objects.some((object) => isObject(object) && object[name] !== undefined);
      if (!isThere) this.#drift("missing", `${this.#kind}.${name}`, undefined);
    }
  }

  /** Whether the object has the shape that is read, and a look at it on the way. */
  check<Shape>(value: unknown, isShape: (value: unknown) => value is Shape): value is Shape {
    const fits = isShape(value);
    this.#untilWhole -= 1;
    const isTurn = this.#untilWhole < 0 || this.#isFirstOfPage;
    if (fits && !isTurn && this.#isAsExpected(value)) return true;
    if (this.#untilWhole < 0) this.#untilWhole = WHOLE_EVERY - 1;
    this.#isFirstOfPage = false;
    if (isObject(value)) this.#lookThrough(value);
    else this.#drift("unknown_value", this.#kind, value);
    return fits;
  }

  #lookThrough(object: Readonly<Record<string, unknown>>): void {
    for (const name of this.#needed) {
      if (object[name] === undefined || object[name] === null) {
        this.#drift("missing", `${this.#kind}.${name}`, undefined);
      }
    }
    for (const [name, words] of this.#words) {
      if (!words.has(object[name])) this.#drift("unknown_value", `${this.#kind}.${name}`, object[name]);
    }
    for (const [name, type] of this.#types) {
      if (this.#worded.has(name)) continue;
      const value = object[name];
      if (value !== undefined && value !== null && !isFitting[type](value)) {
        this.#drift("unknown_value", `${this.#kind}.${name}`, value);
      }
    }
    let found = 0;
    for (const name in object) {
      if (this.#known.has(name)) continue;
      found += 1;
      if (found > NEW_FIELDS_PER_OBJECT_MAX) return;
      this.#drift("new", `${this.#kind}.${name}`, object[name]);
    }
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type WireWatches<Shapes> = { readonly [Kind in keyof Shapes]: WireWatch };

/** A watch for every kind of object of a venue, by the kind's name. */
export function watchWire<Shapes extends Readonly<Record<string, WireShape>>>(
  shapes: Shapes,
  drift: DriftCounter,
): WireWatches<Shapes> {
  const watches = Object.entries(shapes).map(([kind, shape]) => [kind, new WireWatch(kind, shape, drift)]);
  return Object.fromEntries(watches) as WireWatches<Shapes>;
}
