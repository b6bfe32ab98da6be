/** The public pages, which show the same data as the API, and the documentation. */
import type { FastifyInstance } from "fastify";
import {
  assetRoutes,
  COPY_SCRIPT_ASSET,
  faviconRoutes,
  KEY_SCRIPT_ASSET,
  STYLESHEET_ASSET,
} from "../../http/html/index.ts";
import { ACCOUNT_STYLES, type AccountSettings, type BrowserSessions } from "../accounts/account-pages/index.ts";
import type { Analyses } from "../analysis/analyses/index.ts";
import type { CalibrationService } from "../analysis/calibration/index.ts";
import { readAnalysis } from "../analysis/index.ts";
import { type AreaPorts, type Pipeline, venueIdsOf } from "../area-ports.ts";
import type { MarketsService } from "../markets/market-data/index.ts";
import type { HealthReport } from "../operations/health/index.ts";
import type { Trading } from "../strategy/index.ts";
import { docsRoutes } from "./docs/index.ts";
import { websiteRoutes } from "./website/index.ts";

export function registerSiteRoutes(
  http: FastifyInstance,
  ports: AreaPorts & { readonly account: AccountSettings },
  sources: Pick<Pipeline, "board"> & {
    readonly analyses: Analyses;
    readonly markets: MarketsService;
    readonly calibration: CalibrationService;
    readonly trading: Trading;
    readonly browserSessions: BrowserSessions;
    readonly health: () => HealthReport;
    readonly acceptsPayments: boolean;
  },
): void {
  const { publicUrl, data, demoKey = null } = ports;
  const { board, analyses, markets, calibration, trading } = sources;
  const venues = venueIdsOf(ports);
  websiteRoutes(http, {
    ...ports,
    ...sources,
    service: markets,
    venues: venues.trading,
    demoKey,
    upgradeUrl: ports.account.upgradeUrl ?? null,
    referenceVenues: venues.all.filter((id) => !venues.trading.includes(id)),
    analyses: analyses.service,
    // Includes expired analyses: the page reports the expiry and hides the estimate.
    readAnalysis: (market) => readAnalysis(analyses, market),
    readCalibration: () => calibration.getCalibration({ mode: "shadow", period: "all", category: null }),
    readPerformance: async () => (await trading.performance.read()).report,
  });
  docsRoutes(http, { data, publicUrl, venues, board, demoKey });
  assetRoutes(http, [STYLESHEET_ASSET, COPY_SCRIPT_ASSET, KEY_SCRIPT_ASSET, ACCOUNT_STYLES]);
  faviconRoutes(http);
}
