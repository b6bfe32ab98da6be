/** The account pages: sign-up, sign-in, usage, sessions and keys. They work without JavaScript. */
export { ACCOUNT_STYLES } from "./account-layout.ts";
export {
  type BrowserSessions,
  createBrowserSessions,
  createSessionAuthenticator,
} from "./authenticator.ts";
export { type FormSecrets, renderHiddenFields, toFormError } from "./fields.ts";
export type { AccountSettings } from "./model.ts";
export { accountRoutes } from "./routes.ts";
export { createAccountPage } from "./service.ts";
export { createBrowserSignIn } from "./session-routes.ts";
export { ACCOUNT_PATH, buildPageUrl, PLANS_PATH } from "./site.ts";
