import type { CustomerData } from "../capabilities/accounts/customers/index.ts";
import { deleteParticipations } from "../capabilities/analysis/analyses/index.ts";
import { deleteWebhooksOf } from "../capabilities/events/webhooks/index.ts";
import { REPORT_DATA } from "../capabilities/markets/consensus/index.ts";
import { PAPER_TRADE_DATA } from "../capabilities/strategy/portfolios/index.ts";

/** Customer data of the areas, in the order in which a deletion locks the rows. */
export const CUSTOMER_DATA: readonly CustomerData[] = [
  REPORT_DATA,
  PAPER_TRADE_DATA,
  { deleteOf: deleteParticipations },
  { deleteOf: deleteWebhooksOf },
];
