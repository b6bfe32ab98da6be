import Type from "typebox";
import { FormId } from "../../../http/html/index.ts";
import { CUSTOMER_NAME_LENGTH_MAX, KEY_NAME_LENGTH_MAX } from "../customers/index.ts";

/** Longer than every valid e-mail address, key, token and id, so that the service reports format errors. */
export const FIELD_LENGTH_MAX = 320;
const WIDGET_TOKEN_LENGTH_MAX = 2_048;

const textField = Type.String({ maxLength: FIELD_LENGTH_MAX });
/** The CSRF token, derived from the session token. */
const csrfFields = { csrf: textField };
const formIdFields = { form: FormId };

export const SignUpForm = Type.Object({
  ...formIdFields,
  name: Type.String({ maxLength: CUSTOMER_NAME_LENGTH_MAX }),
  email: textField,
  "cf-turnstile-response": Type.String({ maxLength: WIDGET_TOKEN_LENGTH_MAX, default: "" }),
});

export const SignInForm = Type.Object({ ...formIdFields, email: textField });

export const LinkQuery = Type.Object({ token: Type.String({ maxLength: FIELD_LENGTH_MAX, default: "" }) });

export const LinkForm = Type.Object({ ...formIdFields, token: textField });

export const SessionForm = Type.Object(csrfFields);

/** Path of the account page to which a form redirects. */
const AccountPath = Type.String({ default: "/account", pattern: "^/account(?:/[a-z0-9-]{1,64}){0,3}$" });

export const ReauthenticationForm = Type.Object({
  ...csrfFields,
  ...formIdFields,
  api_key: textField,
  next: AccountPath,
});

export const EmailForm = Type.Object({ ...csrfFields, ...formIdFields, email: textField });

export const EmailLinkForm = Type.Object({ ...csrfFields, ...formIdFields, token: textField });

export const DeletionForm = Type.Object({
  ...csrfFields,
  ...formIdFields,
  confirmation: textField,
  /** The text that the customer must enter; the page shows it again after a wrong confirmation. */
  expected: Type.String({ maxLength: FIELD_LENGTH_MAX, default: "" }),
});

export const RequestsQuery = Type.Object({ only: Type.Optional(Type.String({ maxLength: FIELD_LENGTH_MAX })) });

export const NewKeyForm = Type.Object({
  ...csrfFields,
  ...formIdFields,
  name: Type.String({ minLength: 1, maxLength: KEY_NAME_LENGTH_MAX }),
});

export const KeyForm = Type.Object({ ...csrfFields, ...formIdFields });

export const KeyPath = Type.Object({ key_id: Type.String() });
