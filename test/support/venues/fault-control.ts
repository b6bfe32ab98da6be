import type { RunningSandbox } from "../../../sandbox/main.ts";

/** The fault switches of a sandbox, set over its control endpoint. */
export interface FaultControl {
  /** `{switch: rate}` for a venue or for `all`; an empty object turns every switch off. */
  setFaults(venue: string, switches: Readonly<Record<string, unknown>>): Promise<void>;
  /** Turns all switches off and resets the counts. */
  clearFaults(): Promise<void>;
  /** Number of injected faults, by venue and fault. */
  injectedFaults(): Promise<Record<string, Record<string, number>>>;
}

export function faultControl(sandbox: Pick<RunningSandbox, "urls">): FaultControl {
  const control = `${sandbox.urls.control?.rest}/faults`;
  const send = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init);
    if (response.status !== 200) throw new Error(await response.text());
    return response.json() as Promise<{ venues: Record<string, { happened: Record<string, number> }> }>;
  };
  return {
    async setFaults(venue, switches) {
      const headers = { "content-type": "application/json" };
      await send(`${control}/${venue}`, { method: "PUT", headers, body: JSON.stringify(switches) });
    },
    async clearFaults() {
      await send(control, { method: "DELETE" });
    },
    async injectedFaults() {
      const { venues } = await send(control);
      return Object.fromEntries(Object.entries(venues).map(([venue, state]) => [venue, state.happened]));
    },
  };
}
