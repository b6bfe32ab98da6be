import Type from "typebox";
import { FormId } from "../../http/html/index.ts";
import { CUSTOMER_NAME_LENGTH_MAX, KEY_NAME_LENGTH_MAX } from "../customers/index.ts";

/** Longer than any valid address, key, token or id, so that the service itself reports what is wrong with a value. */
export const FIELD_LENGTH_MAX = 320;
const WIDGET_TOKEN_LENGTH_MAX = 2_048;

const field = Type.String({ maxLength: FIELD_LENGTH_MAX });
/** The CSRF token, derived from the session. */
const formToken = { csrf: field };
const formId = { form: FormId };

export const SignUpForm = Type.Object({
  ...formId,
  name: Type.String({ maxLength: CUSTOMER_NAME_LENGTH_MAX }),
  email: field,
  "cf-turnstile-response": Type.String({ maxLength: WIDGET_TOKEN_LENGTH_MAX, default: "" }),
});

export const SignInForm = Type.Object({ ...formId, email: field });

export const LinkQuery = Type.Object({ token: Type.String({ maxLength: FIELD_LENGTH_MAX, default: "" }) });

export const LinkForm = Type.Object({ ...formId, token: field });

export const SessionForm = Type.Object(formToken);

export const ProofForm = Type.Object({ ...formToken, api_key: field });

export const NewKeyForm = Type.Object({
  ...formToken,
  ...formId,
  name: Type.String({ minLength: 1, maxLength: KEY_NAME_LENGTH_MAX }),
});

export const KeyForm = Type.Object({ ...formToken, ...formId });

export const KeyPath = Type.Object({ key_id: Type.String() });
