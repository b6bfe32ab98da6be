import type { RunningSandbox } from "../../../sandbox/main.ts";

/** The fault switches of a sandbox, set over its control endpoint. */
export interface FaultControl {
  /** `{switch: rate}` for a venue or for `all`; an empty object turns every switch off. */
  setFaults(venue: string, switches: Readonly<Record<string, unknown>>): Promise<void>;
  /** Turns all switches off and resets the counts. */
  clearFaults(): Promise<void>;
  /** Number of injected faults, by venue and fault. */
  happened(): Promise<Record<string, Record<string, number>>>;
}

export function faultControl(sandbox: Pick<RunningSandbox, "urls">): FaultControl {
  const control = `${sandbox.urls.control?.rest}/faults`;
  const ask = async (url: string, request: RequestInit = {}) => {
    const reply = await fetch(url, request);
    if (reply.status !== 200) throw new Error(await reply.text());
    return reply.json() as Promise<{ venues: Record<string, { happened: Record<string, number> }> }>;
  };
  return {
    async setFaults(venue, switches) {
      const headers = { "content-type": "application/json" };
      await ask(`${control}/${venue}`, { method: "PUT", headers, body: JSON.stringify(switches) });
    },
    async clearFaults() {
      await ask(control, { method: "DELETE" });
    },
    async happened() {
      const { venues } = await ask(control);
      return Object.fromEntries(Object.entries(venues).map(([venue, state]) => [venue, state.happened]));
    },
  };
}
