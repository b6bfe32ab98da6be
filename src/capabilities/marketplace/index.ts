/** Callers authenticated by an API marketplace: they have no API key, and their subscription there defines their plan. */
export { createMarketplaceAuthenticator } from "./authenticator.ts";
export { createMarketplace, marketplaceCustomerId } from "./marketplace.ts";
