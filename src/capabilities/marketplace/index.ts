/** Callers whom an API marketplace vouches for: they have no key of ours, and their plan is what they booked there. */
export { createMarketplace, MARKETPLACE_HEADERS, type Marketplace, marketplaceCustomerId } from "./marketplace.ts";
