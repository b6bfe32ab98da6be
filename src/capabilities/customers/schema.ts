import Type from "typebox";
import type { Plan } from "../../domain/plan.ts";
import { FormId } from "../../http/html/index.ts";
import { CUSTOMER_NAME_LENGTH_MAX, CUSTOMER_STATUSES, type CustomerStatus, KEY_NAME_LENGTH_MAX } from "./model.ts";
import { PLAIN_TEXT_PATTERN } from "./plain-text.ts";
import { TOKEN_LENGTH_MAX } from "./turnstile.ts";

const EMAIL_LENGTH_MAX = 320;
const VERIFICATION_TOKEN_LENGTH_MAX = 200;

const time = Type.String({ format: "date-time" });
const nullableTime = Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" });

export const SignUpBody = Type.Object({
  email: Type.String({
    format: "email",
    maxLength: EMAIL_LENGTH_MAX,
    description:
      "Case, full-width letters and the domain's spelling make no other address; disposable ones are refused",
    examples: ["ada@example.org"],
  }),
  name: Type.Optional(
    Type.Unsafe<string | null>({
      type: ["string", "null"],
      maxLength: CUSTOMER_NAME_LENGTH_MAX,
      pattern: PLAIN_TEXT_PATTERN,
      description: "Display name",
    }),
  ),
  turnstile_token: Type.String({
    minLength: 1,
    maxLength: TOKEN_LENGTH_MAX,
    description:
      "What Turnstile's widget (action `signup`) gave the form; in a sandbox without a secret its published dummy",
    examples: ["XXXX.DUMMY.TOKEN.XXXX"],
  }),
});

export const SignUpResponse = Type.Object({
  message: Type.String(),
  requires_verification: Type.Boolean(),
  customer_id: Type.String(),
  api_key: Type.Optional(Type.String({ description: "Shown once; absent while the e-mail address is to be verified" })),
});

export const VerifyQuery = Type.Object({
  token: Type.String({ default: "", maxLength: VERIFICATION_TOKEN_LENGTH_MAX, description: "From the letter" }),
});

export const VerifyBody = Type.Object({
  form: FormId,
  token: Type.String({ maxLength: VERIFICATION_TOKEN_LENGTH_MAX, description: "From the letter; works once" }),
});

export const VerifyResponse = Type.Object({
  message: Type.String(),
  customer_id: Type.String(),
  api_key: Type.String({ description: "Shown once" }),
});

const counters = (description: string) =>
  Type.Object(
    { listing: Type.Integer(), insight: Type.Integer(), strategy: Type.Integer(), deep: Type.Integer() },
    { description },
  );

export const Me = Type.Object({
  customer_id: Type.String(),
  email: Type.Unsafe<string | null>({ type: ["string", "null"], format: "email" }),
  plan: Type.Unsafe<Plan>({ type: "string", enum: ["free", "pro", "enterprise"] }),
  status: Type.Unsafe<CustomerStatus>({ type: "string", enum: [...CUSTOMER_STATUSES] }),
  key_prefix: Type.String({ description: "Beginning of the key that was shown" }),
  usage: counters("Calls of the running month (UTC)"),
  quotas: counters("Calls a month that the plan allows, or numbers of the customer's own"),
  resets_on: Type.String({
    format: "date",
    description: "First day of the next month; usage begins anew at 00:00 UTC",
  }),
});

const keyFields = {
  key_id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: "The key's beginning; the rest is stored nowhere" }),
  created_at: time,
  last_used_at: Type.Unsafe<string | null>({ ...nullableTime, description: "To the minute" }),
  revoked_at: nullableTime,
};

export const Key = Type.Object(keyFields);

export const NewKey = Type.Object({ ...keyFields, api_key: Type.String({ description: "Shown once" }) });

export const NewKeyBody = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: KEY_NAME_LENGTH_MAX,
    pattern: PLAIN_TEXT_PATTERN,
    description: "One living key's at a time",
    examples: ["trading bot"],
  }),
});

export const KeyPath = Type.Object({ key_id: Type.String() });

export const EmptyObject = Type.Object({});
