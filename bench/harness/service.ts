import {
  eventually,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../../test/support/service-process.ts";
import { prepareStore } from "../../test/support/venues/lifted-limits.ts";

/** Settings with almost no ingest, so that the figures measure request handling only. */
export const QUIET_WORLD_SETTINGS = { PARALLAX_SANDBOX_MARKETS: "10", PARALLAX_SANDBOX_SPEED: "1" };

export interface BenchService extends ServiceProcess {
  readonly headers: Readonly<Record<string, string>>;
  /** API path of one open market that has a price. */
  readonly marketPath: string;
  close(): Promise<void>;
}

/**
 * Starts the service as `npm start` does, in child processes with simulated venues and a temporary folder. On the
 * embedded store the rate limits are so high that no scenario reaches them.
 */
export async function openService(env: Readonly<Record<string, string>>): Promise<BenchService> {
  const folder = await temporaryFolder();
  const start = async () => {
    if (env.DATABASE_URL === undefined) await prepareStore(folder.path);
    return startServiceProcess({ dataDir: folder.path, env });
  };
  const service = await start().catch(async (error: unknown) => {
    await folder.release();
    throw error;
  });
  const close = async () => {
    await service.end();
    await folder.release();
  };
  try {
    const headers = { authorization: `Bearer ${service.keys.enterprise}` };
    const market = await eventually(async () => {
      const { status, json } = await service.get("/v1/markets?limit=1", headers);
      return status === 200 ? (json[0] ?? null) : null;
    }, "a market");
    const marketPath = `/v1/markets/${market.platform}/${encodeURIComponent(market.market_id)}`;
    return { ...service, headers, marketPath, close };
  } catch (error) {
    await close();
    throw error;
  }
}
