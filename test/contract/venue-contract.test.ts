import { hasVenue, VENUE_NAMES } from "../support/venue-bench.ts";
import { describeVenueContract } from "./venue-contract.ts";

for (const name of VENUE_NAMES) if (hasVenue(name)) describeVenueContract(name);
