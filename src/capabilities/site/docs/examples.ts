import { readdirSync, readFileSync } from "node:fs";
import { isObject } from "../../../lib/is-object.ts";
import type { Example, ExampleRequest, Examples, Operation } from "./model.ts";

const EXAMPLES_FOLDER = new URL("../../../../docs/examples/", import.meta.url);
/** Lists the venue ids in the stored examples, in the order of the default configuration. */
const VENUES_FILE = "venues.json";

/** Values of an open market, which replace the stored ones in samples and forms, so that these calls succeed. */
export interface LiveValues {
  readonly platform: string;
  readonly market_id: string;
  readonly slug: string;
  /** Ids of several open markets of the platform. */
  readonly market_ids: readonly string[];
}

/**
 * Reads the stored examples by operation id.
 *
 * @param venues  ids of the configured venues, in the order of the configuration; they replace the stored ones
 */
export function readExamples(venues: readonly string[]): Examples {
  const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, EXAMPLES_FOLDER), "utf8"));
  const storedVenues = read(VENUES_FILE) as readonly string[];
  const names = new Map(
    storedVenues.map((stored, index) => [stored, venues.includes(stored) ? stored : (venues[index] ?? stored)]),
  );
  const files = readdirSync(EXAMPLES_FOLDER).filter((name) => name !== VENUES_FILE);
  return new Map(
    files.map((name) => [name.replace(/\.json$/, ""), renameVenues(read(name), names) as Example] as const),
  );
}

/** Replaces venue ids: as values, as names of fields, and before the colon of event slugs. */
function renameVenues(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    const [venue = "", ...rest] = value.split(":");
    return [names.get(venue) ?? venue, ...rest].join(":");
  }
  if (Array.isArray(value)) return value.map((entry) => renameVenues(entry, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [names.get(name) ?? name, renameVenues(entry, names)]),
  );
}

/** Returns the example with live values in its path and body. Other values stay as stored. */
export function withLiveValues({ request, response }: Example, live: LiveValues | null): Example {
  if (live === null) return { request, response };
  const replace = <Value>(values: Readonly<Record<string, Value>>, replacements: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, replacements[name] ?? value]));
  const { market_ids: _list, ...texts } = live;
  const { body } = request;
  const hasFields = typeof body === "object" && body !== null;
  return {
    request: {
      ...request,
      path: replace(request.path, texts),
      body: hasFields ? replace<unknown>({ ...body }, { ...live }) : body,
    },
    response,
  };
}

/** The request of an operation without an example. The value of each required parameter is its name. */
export function createEmptyRequest({ parameters }: Operation): ExampleRequest {
  const valuesIn = (place: string) =>
    Object.fromEntries(
      parameters.filter((parameter) => parameter.in === place && parameter.isRequired).map(({ name }) => [name, name]),
    );
  return { path: valuesIn("path"), query: valuesIn("query"), body: null };
}
