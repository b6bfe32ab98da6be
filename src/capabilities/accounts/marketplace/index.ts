/** Callers that an API marketplace authenticates. They have no API key; their marketplace subscription defines the plan. */
export { createMarketplaceAuthenticator } from "./authenticator.ts";
export { createMarketplace, marketplaceCustomerId } from "./marketplace.ts";
