import type { DemoKeys } from "../capabilities/accounts/keys/index.ts";

/** Renders the text that a process without the API prints. It contains no links, because the process has no pages. */
export function renderRolesBanner(options: {
  readonly url: string;
  readonly data: "sandbox" | "live";
  readonly roles: readonly string[];
}): string {
  const { url, data, roles } = options;
  const kind = data === "sandbox" ? "simulated data" : "live data";
  return `\n  Parallax  runs ${roles.join(", ")} without the API   (${kind}; health checks on ${new URL(url).host})\n\n`;
}

/** Renders the text that `npm start` prints: URLs, demo keys and an example request. */
export function renderBanner(options: {
  readonly url: string;
  readonly data: "sandbox" | "live";
  readonly keys: DemoKeys | null;
  /** Control page of the simulated venues; null if this process starts no simulated venues. */
  readonly sandboxUrl: string | null;
}): string {
  const { url, data, keys, sandboxUrl } = options;
  const lines = [
    "",
    `  Parallax  ${url}   (${data === "sandbox" ? "simulated data" : "live data"})`,
    `  Docs      ${url}/docs`,
    `  Account   ${url}/account`,
  ];
  if (sandboxUrl !== null) lines.push(`  Venues    ${sandboxUrl}   (simulated, on this machine)`);
  if (keys !== null) {
    lines.push(
      "",
      `  Demo keys  free        ${keys.free}`,
      `             pro         ${keys.pro}`,
      `             enterprise  ${keys.enterprise}`,
      "",
      `  Try: curl -H "Authorization: Bearer ${keys.enterprise}" "${url}/v1/markets?limit=3"`,
    );
  }
  return `${lines.join("\n")}\n\n`;
}
