/** Callers authenticated by an API marketplace: they have no API key, and their subscription there defines their plan. */
export { createMarketplace, createMarketplaceAuthenticator, marketplaceCustomerId } from "./marketplace.ts";
