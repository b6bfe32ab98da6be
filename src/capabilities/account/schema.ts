import Type from "typebox";
import { CUSTOMER_NAME_LENGTH_MAX, KEY_NAME_LENGTH_MAX } from "../customers/index.ts";

/** Longer than any address, key, token or id of ours, so that what is wrong with one is told by who knows it. */
const FIELD_LENGTH_MAX = 320;
const WIDGET_TOKEN_LENGTH_MAX = 2_048;

const field = Type.String({ maxLength: FIELD_LENGTH_MAX });
/** Bound to the session. */
const formToken = { csrf: field };
/** Names the form as it was shown, so that pressing its button twice does its work once. */
const formId = { form: field };

export const SignUpForm = Type.Object({
  name: Type.String({ maxLength: CUSTOMER_NAME_LENGTH_MAX }),
  email: field,
  "cf-turnstile-response": Type.String({ maxLength: WIDGET_TOKEN_LENGTH_MAX, default: "" }),
});

export const SignInForm = Type.Object({ email: field });

export const LinkQuery = Type.Object({ token: Type.String({ maxLength: FIELD_LENGTH_MAX, default: "" }) });

export const LinkForm = Type.Object({ token: field });

export const SessionForm = Type.Object(formToken);

export const ProofForm = Type.Object({ ...formToken, api_key: field });

export const NewKeyForm = Type.Object({
  ...formToken,
  ...formId,
  name: Type.String({ minLength: 1, maxLength: KEY_NAME_LENGTH_MAX }),
});

export const KeyForm = Type.Object({ ...formToken, ...formId });

export const KeyPath = Type.Object({ key_id: Type.String() });
