/** Customers' activity: usage by day and key, and recent requests. */
export type { DailyUsage, RecentRequest } from "./model.ts";
export { REQUEST_RETENTION_DAYS, REQUESTS_MAX, USAGE_RETENTION_DAYS } from "./model.ts";
export { deleteActivity } from "./queries.ts";
export { observeCustomerResponse } from "./routes.ts";
export { type Activity, createActivity } from "./service.ts";
