import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { type BenchService, openService } from "./service.ts";

/**
 * A simulated world with more than 2,000 price changes a second, read by the real adapters over sockets. The number of
 * stored ticks depends on the machine, so scenarios measure it too.
 */
const LIVELY_WORLD = {
  PARALLAX_SANDBOX_MARKETS: "2000",
  PARALLAX_SANDBOX_SPEED: "450",
  PARALLAX_SANDBOX_LIMITS: "off",
};

export const LIVELY_TICKS_PER_SECOND = 2_000;

/** Kalshi requires a key for its stream. The sandbox accepts any well-formed RSA key. */
const VENUE_KEY_ID = "benchmark";
const RSA_BITS = 2_048;

export interface LivelyService extends BenchService {
  /** Reads the service's metrics by name and labels. Throws if the service does not respond. */
  metrics(): Promise<ReadonlyMap<string, number>>;
}

/** The service on the busy world, with every venue's stream and with metrics. */
export async function openLivelyService(): Promise<LivelyService> {
  const folder = await temporaryFolder();
  try {
    const privateKeyFile = join(folder.path, "venue-key.pem");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: RSA_BITS });
    await writeFile(privateKeyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    const token = "benchmark-metrics-token";
    const service = await openService({
      ...LIVELY_WORLD,
      PARALLAX_KALSHI_KEY_ID: VENUE_KEY_ID,
      PARALLAX_KALSHI_PRIVATE_KEY_FILE: privateKeyFile,
      PARALLAX_METRICS_TOKEN: token,
    });
    return {
      ...service,
      async metrics() {
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

/** Metric that counts the ticks written to the store. */
export const TICKS_WRITTEN = "parallax_store_ticks_written_total";
