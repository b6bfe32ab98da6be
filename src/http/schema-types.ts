import Type, { type Static, type TObject, type TProperties } from "typebox";

interface NumberOptions {
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const toOptions = <Options extends object>(options: string | Options) =>
  typeof options === "string" ? { description: options } : options;

/**
 * Creates the schema of a string with fixed values. One `enum` is shorter in the OpenAPI document than a union of
 * literals.
 */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  options: string | { description?: string; default?: Value } = {},
) {
  return Type.Unsafe<Value>({ type: "string", enum: [...values], ...toOptions(options) });
}

export const nullableNumber = (options: string | NumberOptions) =>
  Type.Unsafe<number | null>({ type: ["number", "null"], ...toOptions(options) });
export const nullableString = (options: string | { readonly description: string; readonly maxLength?: number }) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], ...toOptions(options) });
export const nullableOneOf = <const Value extends string>(values: readonly Value[], description?: string) =>
  Type.Unsafe<Value | null>({ type: ["string", "null"], enum: [...values, null], description });
export const nullableTimestamp = (description: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time", description });
export const nullableObject = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Unsafe<Static<TObject<Properties>> | null>({
    ...Type.Object(properties),
    type: ["object", "null"],
    description,
  });
export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const amount = (description: string) => Type.Number({ minimum: 0, description });
export const nullableAmount = (description: string) => nullableNumber({ minimum: 0, description });
/** A difference of two probabilities, or a correlation. */
export const difference = (description: string) => Type.Number({ minimum: -1, maximum: 1, description });
export const nullableDifference = (description: string) => nullableNumber({ minimum: -1, maximum: 1, description });
export const probability = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
export const nullableProbability = (description: string) => nullableNumber({ description, minimum: 0, maximum: 1 });
export const timestamp = (description: string) => Type.String({ format: "date-time", description });

/** Public ids of the configured venues. Reference venues are in `all` but not in `trading`. */
export interface VenueIds {
  readonly trading: readonly string[];
  readonly all: readonly string[];
}

/** Fields that identify a market in a response. @param venues  public ids of the venues of these markets */
export const marketNames = (venues: readonly string[]) => ({
  platform: oneOf(venues, { description: "Venue." }),
  market_id: Type.String({ description: "Market ticker or id at the venue." }),
  title: Type.String({ description: "Market question." }),
});

export const EVENT_SLUG = "Event slug: the venue and the venue's event id, as `{platform}:{event_id}`.";

/** Path parameters of one event. */
export const eventPath = Type.Object({ slug: Type.String({ description: EVENT_SLUG }) });

/** Path parameters of one market. @param trading  public ids of the venues that clients can query */
export const createMarketPath = (trading: readonly string[]) =>
  Type.Object({
    platform: oneOf(trading, { description: "Venue." }),
    market_id: Type.String({ description: "Market ticker or id at the venue, percent-encoded." }),
  });

const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

/** Headers of a request that creates a resource. @param request noun for the resource, for example "report" */
export const createIdempotencyHeaders = (request: string) =>
  Type.Object({
    "idempotency-key": Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: IDEMPOTENCY_KEY_LENGTH_MAX,
        description: `Any text of your choice. A ${request} repeated with the same key counts once. The key cannot be used for a different ${request}.`,
      }),
    ),
  });
