import type { ScoreboardRow } from "./row.ts";
import { killedAnalysesRow } from "./rows/analyses.ts";
import { consensusRow, injectionRow, secretsRow } from "./rows/attacks.ts";
import { chargesRow } from "./rows/charges.ts";
import { fuzzedRequestsRow } from "./rows/fuzz.ts";
import { acknowledgedReportsRow } from "./rows/kills.ts";
import { rateLimitRow, redisOutageRow } from "./rows/limits.ts";
import { monthEndsRow } from "./rows/months.ts";
import { packagesRow } from "./rows/packages.ts";
import { exactQuotaRow, quotaKillsRow } from "./rows/quota.ts";
import { cachedReadRow, slowClientsRow } from "./rows/requests.ts";
import { rollingRestartRow } from "./rows/restarts.ts";
import { keyRotationRow } from "./rows/rotation.ts";
import { soakRow } from "./rows/soak.ts";
import { fullDiskRow, postgresOutageRow } from "./rows/stores.ts";
import { stalledStreamsRow, streamLagRow, streamResumeRow } from "./rows/streams.ts";
import { forbiddenAddressesRow, paymentsRow, pydanticErrorsRow } from "./rows/tests.ts";
import { keyTimingRow } from "./rows/timing.ts";
import { hungVenueRow, venueFaultsRow } from "./rows/venues.ts";
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
  venueFaultsRow,
  hungVenueRow,
  redisOutageRow,
  postgresOutageRow,
  fullDiskRow,
  rollingRestartRow,
  killedAnalysesRow,
  monthEndsRow,
  keyRotationRow,
  keyTimingRow,
  secretsRow,
  injectionRow,
  consensusRow,
  rateLimitRow,
  packagesRow,
  cachedReadRow,
  slowClientsRow,
];
