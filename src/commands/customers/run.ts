import { systemClock } from "../../adapters/system/system-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { type Accounts, createAccounts } from "../../capabilities/customers/index.ts";
import { KEYS_TOPIC } from "../../capabilities/keys/index.ts";
import type { OperatorProgram } from "../operator/run.ts";
import { parseCustomersCommand } from "./commands.ts";

/** `parallax customers`. Key changes are published to running services; those that miss the message notice in 1 s. */
export const CUSTOMERS_PROGRAM: OperatorProgram<Accounts> = {
  name: "customers",
  parse: parseCustomersCommand,
  open: (database, _config, publish) =>
    createAccounts({
      ...{ database, clock: systemClock, random: systemRandom },
      onKeysChanged: () => publish(KEYS_TOPIC),
    }),
};
