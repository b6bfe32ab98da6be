import { iso } from "./market-json.ts";
import { KalshiError, notFound } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const SCHEDULE_WEEKS_MS = 52 * 7 * 86_400_000;

/** What needs a signed request of somebody with an account; nobody has one here. */
const ACCOUNT_PATHS = ["/portfolio/*", "/account/*", "/api_keys", "/communications/*", "/fcm/*"];

/** The exchange itself, and the listings that stay empty here because nothing of their kind is simulated. */
export function installExchange(get: Get, { context }: RestOptions): void {
  get("/exchange/status", () => ({
    exchange_active: true,
    trading_active: true,
    intra_exchange_transfers_active: true,
    exchange_estimated_resume_time: null,
    exchange_index_statuses: [],
  }));
  get("/exchange/user_data_timestamp", () => ({ as_of_time: iso(context.now()) }));
  get("/exchange/announcements", () => ({ announcements: [] }));
  // Trading never stops for the night here, nor for maintenance.
  get("/exchange/schedule", () => ({
    schedule: {
      standard_hours: [
        {
          start_time: iso(context.world.genesis),
          end_time: iso(context.world.genesis + SCHEDULE_WEEKS_MS),
          ...Object.fromEntries(DAYS.map((day) => [day, [{ open_time: "00:00", close_time: "00:00" }]])),
        },
      ],
      maintenance_windows: [],
    },
  }));

  get("/milestones", () => ({ milestones: [], cursor: "" }));
  get("/structured_targets", () => ({ structured_targets: [], cursor: "" }));
  get("/incentive_programs", () => ({ incentive_programs: [], next_cursor: "" }));
  get("/live_data/batch", () => ({ live_datas: [] }));
  get("/search/filters_by_sport", () => ({ filters_by_sports: {}, sport_ordering: [] }));
  for (const path of ["/milestones/:id", "/structured_targets/:id", "/live_data/*"]) {
    get(path, () => {
      throw notFound();
    });
  }
  for (const path of ACCOUNT_PATHS) {
    get(path, () => {
      throw new KalshiError(401, "authentication_error", "this request needs the key of an account");
    });
  }
}
