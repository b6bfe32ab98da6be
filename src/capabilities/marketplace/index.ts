/** Callers whom an API marketplace vouches for: they have no key of ours, and their plan is what they booked there. */
export { createMarketplaceAuthenticator } from "./authenticator.ts";
export { createMarketplace, marketplaceCustomerId } from "./marketplace.ts";
