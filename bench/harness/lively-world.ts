import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { type BenchService, openService } from "./service.ts";

/**
 * Settings of a simulated world with more than 2,000 price changes per second. The number of
 * stored ticks depends on the machine, so scenarios measure it.
 */
const LIVELY_WORLD_SETTINGS = {
  PARALLAX_SANDBOX_MARKETS: "2000",
  PARALLAX_SANDBOX_SPEED: "450",
  PARALLAX_SANDBOX_LIMITS: "off",
};

export const LIVELY_TICKS_PER_SECOND_MIN = 2_000;

/** Id of the API key that Kalshi requires for its stream. The sandbox accepts any well-formed RSA key. */
const VENUE_KEY_ID = "benchmark";
const RSA_BITS = 2_048;

export interface LivelyService extends BenchService {
  /** Reads the values of the service's metrics by name and labels. Throws if the service does not respond. */
  readMetrics(): Promise<ReadonlyMap<string, number>>;
}

/** Starts the service with this simulated world, the streams of all venues and metrics. */
export async function openLivelyService(): Promise<LivelyService> {
  const folder = await temporaryFolder();
  try {
    const privateKeyFile = join(folder.path, "venue-key.pem");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: RSA_BITS });
    await writeFile(privateKeyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    const token = "benchmark-metrics-token";
    const service = await openService({
      ...LIVELY_WORLD_SETTINGS,
      PARALLAX_KALSHI_KEY_ID: VENUE_KEY_ID,
      PARALLAX_KALSHI_PRIVATE_KEY_FILE: privateKeyFile,
      PARALLAX_METRICS_TOKEN: token,
    });
    return {
      ...service,
      async readMetrics() {
        const { status, text } = await service.get("/metrics", { authorization: `Bearer ${token}` });
        if (status !== 200) throw new Error(`/metrics returned ${status}`);
        return new Map(
          [...text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm)].map(([, name = "", value]) => [name, Number(value)]),
        );
      },
      async close() {
        await service.close();
        await folder.release();
      },
    };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

/** Name of the metric that counts the ticks written to the store. */
export const TICKS_WRITTEN_METRIC = "parallax_store_ticks_written_total";
