import { hasVenue, VENUE_NAMES } from "../support/venues/venue-harness.ts";
import { describeVenueContract } from "./venue-contract.ts";

for (const name of VENUE_NAMES) if (hasVenue(name)) describeVenueContract(name);
