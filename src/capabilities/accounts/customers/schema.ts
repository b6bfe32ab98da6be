import Type from "typebox";
import type { Plan } from "../../../domain/plan.ts";
import { FormId } from "../../../http/html/index.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import { CUSTOMER_NAME_LENGTH_MAX, CUSTOMER_STATUSES, type CustomerStatus, KEY_NAME_LENGTH_MAX } from "./model.ts";
import { PLAIN_TEXT_PATTERN } from "./plain-text.ts";
import { TURNSTILE_TOKEN_LENGTH_MAX } from "./turnstile.ts";

const EMAIL_LENGTH_MAX = 320;
const VERIFICATION_TOKEN_LENGTH_MAX = 200;

const dateTime = Type.String({ format: "date-time" });
const createNullableString = (options: object) => Type.Unsafe<string | null>({ type: ["string", "null"], ...options });

export const SignUpBody = Type.Object({
  email: Type.String({
    format: "email",
    maxLength: EMAIL_LENGTH_MAX,
    description:
      "Addresses that differ only in case, full-width characters or the spelling of the domain are the same address. Disposable addresses are rejected.",
    examples: ["ada@example.org"],
  }),
  name: Type.Optional(
    createNullableString({
      maxLength: CUSTOMER_NAME_LENGTH_MAX,
      pattern: PLAIN_TEXT_PATTERN,
      description: "Display name.",
    }),
  ),
  turnstile_token: Type.String({
    minLength: 1,
    maxLength: TURNSTILE_TOKEN_LENGTH_MAX,
    description:
      "Token from the Turnstile widget with the action `signup`. A sandbox without a Turnstile secret accepts the published test token.",
    examples: ["XXXX.DUMMY.TOKEN.XXXX"],
  }),
});

export const SignUpResponse = Type.Object({
  message: Type.String(),
  requires_verification: Type.Boolean(),
  customer_id: Type.String(),
  api_key: Type.Optional(
    Type.String({ description: "Shown only once. Absent until the e-mail address has been verified." }),
  ),
});

export const VerifyQuery = Type.Object({
  token: Type.String({ default: "", maxLength: VERIFICATION_TOKEN_LENGTH_MAX, description: "Token from the e-mail." }),
});

export const VerifyBody = Type.Object({
  form: FormId,
  token: Type.String({
    maxLength: VERIFICATION_TOKEN_LENGTH_MAX,
    description: "Token from the e-mail. Can be used once.",
  }),
});

export const VerifyResponse = Type.Object({
  message: Type.String(),
  customer_id: Type.String(),
  api_key: Type.String({ description: "Shown only once." }),
});

const createTierCountsSchema = (description: string) =>
  Type.Object(
    { listing: Type.Integer(), insight: Type.Integer(), strategy: Type.Integer(), deep: Type.Integer() },
    { description },
  );

export const AccountSchema = Type.Object(
  {
    customer_id: Type.String(),
    email: createNullableString({ format: "email" }),
    plan: Type.Unsafe<Plan>({ type: "string", enum: ["free", "pro", "enterprise"] }),
    status: Type.Unsafe<CustomerStatus>({ type: "string", enum: [...CUSTOMER_STATUSES] }),
    key_prefix: Type.String({ description: "The first characters of the key that authenticates this request." }),
    usage: createTierCountsSchema("Calls in the current calendar month (UTC)."),
    quotas: createTierCountsSchema("Calls allowed per month, by the plan or by custom limits."),
    resets_on: Type.String({
      format: "date",
      description: "First day of the next month, when usage resets at 00:00 UTC.",
    }),
  },
  { [SCHEMA_NAME]: "Account" },
);

const keyFields = {
  key_id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: "The first characters of the key. The full key is not stored." }),
  created_at: dateTime,
  last_used_at: createNullableString({
    format: "date-time",
    description: "Updated about once a minute; null if never used.",
  }),
  revoked_at: createNullableString({ format: "date-time" }),
};

export const KeySchema = Type.Object(keyFields, { [SCHEMA_NAME]: "ApiKey" });

export const NewKeySchema = Type.Object(
  { ...keyFields, api_key: Type.String({ description: "Shown only once." }) },
  { [SCHEMA_NAME]: "NewApiKey" },
);

export const NewKeyBody = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: KEY_NAME_LENGTH_MAX,
    pattern: PLAIN_TEXT_PATTERN,
    description: "Unique among your active keys.",
    examples: ["trading bot"],
  }),
});

export const KeyPath = Type.Object({ key_id: Type.String() });

export const EmptyObject = Type.Object({});
