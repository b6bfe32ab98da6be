import type { FastifyRequest } from "fastify";
import { hostWithoutPort, isLoopbackAddress, isLoopbackHost } from "../../lib/loopback.ts";

/** Shown if the origin of the API is not known. `docs.js` replaces it in samples. */
export const UNKNOWN_ORIGIN = "https://YOUR_HOST";

/**
 * Returns the origin and key for example requests. Without a public URL only a loopback Host header is used, because
 * clients can forge it. Only users of this machine see the demo key, because anyone who has it can revoke it; for others
 * the key is null.
 */
export function resolveExampleSite(
  { ip, headers: { host = "" } }: Pick<FastifyRequest, "ip" | "headers">,
  { publicUrl, demoKey }: { readonly publicUrl: string | null; readonly demoKey: string | null },
) {
  if (publicUrl !== null) return { origin: new URL(publicUrl).origin, demoKey: null };
  if (!isLoopbackHost(hostWithoutPort(host))) return { origin: UNKNOWN_ORIGIN, demoKey: null };
  return { origin: `http://${host.toLowerCase()}`, demoKey: isLoopbackAddress(ip) ? demoKey : null };
}
