import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { type BenchService, openService } from "./service.ts";

/**
 * A simulated world that moves more than 2,000 prices a second through the real adapters and sockets. How many are truly
 * stored is always measured beside: it depends on the machine as well.
 */
const LIVELY_WORLD = {
  PARALLAX_SANDBOX_MARKETS: "2000",
  PARALLAX_SANDBOX_SPEED: "450",
  PARALLAX_SANDBOX_LIMITS: "off",
};

export const LIVELY_TICKS_PER_SECOND = 2_000;

/** One of the venues streams to holders of a key only; any well-formed RSA key will do there. */
const VENUE_KEY_ID = "bench";
const RSA_BITS = 2_048;

export interface LivelyService extends BenchService {
  /** What the service counts of itself, by the metric's name with its labels; throws while it does not answer. */
  metrics(): Promise<ReadonlyMap<string, number>>;
}

/** The service in the lively world, every venue's stream included, and with metrics. */
export async function openLivelyService(): Promise<LivelyService> {
  const folder = await temporaryFolder();
  try {
    const privateKeyFile = join(folder.path, "venue-key.pem");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: RSA_BITS });
    await writeFile(privateKeyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    const token = "for-the-bench-only";
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
        if (status !== 200) throw new Error(`/metrics answered ${status}`);
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

/** The name of the metric that counts ticks as the store has taken them over. */
export const TICKS_WRITTEN = "parallax_store_ticks_written_total";
