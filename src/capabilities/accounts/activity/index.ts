/** Customers' activity: usage by day and key, and recent requests. */
export type { DailyUsage, RecentRequest } from "./model.ts";
export { RECENT_REQUESTS_MAX, REQUEST_RETENTION_DAYS, USAGE_RETENTION_DAYS } from "./model.ts";
export { deleteActivity } from "./queries.ts";
export { observeCustomerResponse } from "./routes.ts";
export { type Activity, createActivity } from "./service.ts";
