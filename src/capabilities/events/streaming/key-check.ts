import type { Plan } from "../../../domain/plan.ts";
import { chunksOf } from "../../../lib/chunks.ts";
import type { StreamClient } from "./stream-client.ts";

const KEYS_PER_READ = 1_000;

/** Returns the current plan of each key by its id. Revoked keys and keys of canceled customers have no entry. */
export type ReadPlans = (keyIds: readonly string[]) => Promise<ReadonlyMap<string, Plan>>;

/** Calls `end` for the clients whose key is no longer valid or whose plan has changed. */
export async function checkKeys(
  clients: Iterable<StreamClient>,
  readPlans: ReadPlans,
  end: (client: StreamClient) => void,
): Promise<void> {
  const clientsByKey = new Map<string, StreamClient[]>();
  for (const client of clients) {
    const { key } = client.request;
    if (key === null) continue;
    const others = clientsByKey.get(key.keyId);
    if (others === undefined) clientsByKey.set(key.keyId, [client]);
    else others.push(client);
  }
  for (const keyIds of chunksOf([...clientsByKey.keys()], KEYS_PER_READ)) {
    const plans = await readPlans(keyIds);
    for (const keyId of keyIds)
      for (const client of clientsByKey.get(keyId) ?? [])
        if (client.request.key?.plan !== plans.get(keyId)) end(client);
  }
}
