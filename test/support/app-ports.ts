import { createInProcessBus } from "../../src/adapters/bus/in-process-bus.ts";
import { createPgBossQueues } from "../../src/adapters/jobs/pg-boss-queues.ts";
import { createMemoryQuotaJournal } from "../../src/adapters/metering/quota-journal-memory.ts";
import { openStateThread } from "../../src/adapters/system/state-thread.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { openWorkerPool } from "../../src/adapters/system/worker-pool.ts";
import type { AppPorts } from "../../src/app/index.ts";
import { fakeWebhookPorts } from "./webhooks/fake-webhook-ports.ts";

/** Returns the ports of a single-process service with default settings. `parts` overrides ports. */
export function plainAppPorts(parts: Pick<AppPorts, "database" | "log" | "venues"> & Partial<AppPorts>): AppPorts {
  const ports: Omit<AppPorts, "jobs"> = {
    clock: systemClock,
    random: systemRandom,
    openWorkerPool: (module) => openWorkerPool(module, systemClock),
    openStateThread: (module, options) => openStateThread(module, options, systemClock),
    bus: createInProcessBus(parts.log),
    journal: createMemoryQuotaJournal(),
    sharedLimits: null,
    data: "sandbox",
    version: "test",
    publicUrl: null,
    trustProxy: null,
    marketplaceSecrets: [],
    ...fakeWebhookPorts(),
    eventDays: 7,
    metrics: null,
    signUp: null,
    account: { botCheck: null, emailDelivery: null },
    auditDays: 400,
    ...parts,
  };
  return { jobs: createPgBossQueues(ports), ...ports };
}
