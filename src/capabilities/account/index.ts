/** The account's page: signing up and in without a script, usage against quota, plans, sessions and keys. */
export type { AccountSettings } from "./model.ts";
export { accountRoutes } from "./routes.ts";
export { createAccountPage } from "./service.ts";
export { plansUrl } from "./site.ts";
