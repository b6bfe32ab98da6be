/** The account pages: sign-up, sign-in, usage, plans, sessions and keys. They work without JavaScript. */
export type { AccountSettings } from "./model.ts";
export { accountRoutes } from "./routes.ts";
export { createAccountPage } from "./service.ts";
export { buildPlansUrl as plansUrl } from "./site.ts";
