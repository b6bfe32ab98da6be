import { systemClock } from "../../adapters/system/system-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { createAccounts } from "../../capabilities/customers/index.ts";
import { KEYS_TOPIC } from "../../capabilities/keys/index.ts";
import { createUsageReader } from "../../capabilities/metering/index.ts";
import type { OperatorProgram } from "../operator/run.ts";
import { type CustomersContext, parseCustomersCommand } from "./commands.ts";

/** `parallax customers`. Key changes are published to running services; those that miss the message notice in 1 s. */
export const CUSTOMERS_PROGRAM: OperatorProgram<CustomersContext> = {
  parse: parseCustomersCommand,
  open(database, _config, publish) {
    const onKeysChanged = () => publish(KEYS_TOPIC);
    const accounts = createAccounts({ database, clock: systemClock, random: systemRandom, onKeysChanged });
    return { ...accounts, usage: createUsageReader(database) };
  },
};
