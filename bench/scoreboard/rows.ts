import type { ScoreboardRow } from "./row.ts";
import { chargesRow } from "./rows/charges.ts";
import { fuzzedRequestsRow } from "./rows/fuzz.ts";
import { acknowledgedReportsRow } from "./rows/kills.ts";
import { exactQuotaRow, quotaKillsRow } from "./rows/quota.ts";
import { soakRow } from "./rows/soak.ts";
import { stalledStreamsRow, streamLagRow, streamResumeRow } from "./rows/streams.ts";
import { forbiddenAddressesRow, paymentsRow, pydanticErrorsRow } from "./rows/tests.ts";
import { deadEndpointsRow, firstAttemptRow, webhookKillsRow } from "./rows/webhooks.ts";

/** All rows, in the order of the scoreboard. */
export const SCOREBOARD_ROWS: readonly ScoreboardRow[] = [
  acknowledgedReportsRow,
  exactQuotaRow,
  quotaKillsRow,
  chargesRow,
  webhookKillsRow,
  firstAttemptRow,
  deadEndpointsRow,
  forbiddenAddressesRow,
  paymentsRow,
  fuzzedRequestsRow,
  pydanticErrorsRow,
  streamLagRow,
  streamResumeRow,
  stalledStreamsRow,
  soakRow,
];
