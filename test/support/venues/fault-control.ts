import type { RunningSandbox } from "../../../sandbox/main.ts";

/** Controls the fault switches of a sandbox by requests to its control endpoint. */
export interface FaultControl {
  /** Sets `{switch: rate}` for a venue or for `all`; an empty object turns every switch off. */
  setFaults(venue: string, switches: Readonly<Record<string, unknown>>): Promise<void>;
  /** Turns all switches off and resets the counts. */
  clearFaults(): Promise<void>;
  /** Returns the number of injected faults by venue and fault. */
  injectedFaults(): Promise<Record<string, Record<string, number>>>;
}

export function faultControl(sandbox: Pick<RunningSandbox, "urls">): FaultControl {
  const faultsUrl = `${sandbox.urls.control?.rest}/faults`;
  const send = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init);
    if (response.status !== 200) throw new Error(await response.text());
    return response.json() as Promise<{ venues: Record<string, { happened: Record<string, number> }> }>;
  };
  return {
    async setFaults(venue, switches) {
      const headers = { "content-type": "application/json" };
      await send(`${faultsUrl}/${venue}`, { method: "PUT", headers, body: JSON.stringify(switches) });
    },
    async clearFaults() {
      await send(faultsUrl, { method: "DELETE" });
    },
    async injectedFaults() {
      const { venues } = await send(faultsUrl);
      return Object.fromEntries(Object.entries(venues).map(([venue, state]) => [venue, state.happened]));
    },
  };
}
