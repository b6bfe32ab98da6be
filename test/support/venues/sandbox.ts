import { type RunningSandbox, type SandboxOptions, startSandbox } from "../../../sandbox/main.ts";

/** A sandbox inside the test's own process, on free ports, small and with lifted limits unless asked otherwise. */
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

/** Settings that point a service at a sandbox; `venues` limits them to some. */
export function venueSettings(sandbox: RunningSandbox, venues?: readonly string[]): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [venue, services] of Object.entries(sandbox.urls)) {
    if (venue === "control" || venues?.includes(venue) === false) continue;
    for (const [name, url] of Object.entries(services))
      settings[`PARALLAX_${venue.toUpperCase()}_${name.toUpperCase()}_URL`] = url;
  }
  return settings;
}
