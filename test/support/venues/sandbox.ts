import { type RunningSandbox, type SandboxOptions, startSandbox } from "../../../sandbox/main.ts";

/** Starts a sandbox in the test's process on free ports. By default it has 60 markets and enforces no rate limits. */
export function testSandbox(options: Partial<SandboxOptions> = {}): Promise<RunningSandbox> {
  return startSandbox({
    host: "127.0.0.1",
    firstPort: 0,
    seed: 7,
    speed: 60,
    marketCount: 60,
    enforceLimits: false,
    genesis: Date.now(),
    now: () => Date.now(),
    ...options,
  });
}

/** Returns settings with the URLs of a sandbox, for all venues or only for `venues`. */
export function venueSettings(
  sandbox: Pick<RunningSandbox, "urls">,
  venues?: readonly string[],
): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [venue, services] of Object.entries(sandbox.urls)) {
    if (venue === "control" || venues?.includes(venue) === false) continue;
    for (const [name, url] of Object.entries(services))
      settings[`PARALLAX_${venue.toUpperCase()}_${name.toUpperCase()}_URL`] = url;
  }
  return settings;
}
