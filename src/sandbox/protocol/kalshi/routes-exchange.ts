import { iso } from "./market-json.ts";
import type { Get, RestOptions } from "./rest-types.ts";

export function installExchange(get: Get, { context }: RestOptions): void {
  get("/exchange/status", () => ({
    exchange_active: true,
    trading_active: true,
    intra_exchange_transfers_active: true,
    exchange_estimated_resume_time: null,
    exchange_index_statuses: [],
  }));
  get("/exchange/user_data_timestamp", () => ({ as_of_time: iso(context.now()) }));
}
