import { systemClock } from "../../adapters/system/system-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { type CustomerData, createAccounts } from "../../capabilities/accounts/customers/index.ts";
import { KEYS_TOPIC } from "../../capabilities/accounts/keys/index.ts";
import { createUsageReader } from "../../capabilities/accounts/metering/index.ts";
import type { OperatorProgram } from "../operator/run.ts";
import { type CustomersContext, parseCustomersCommand } from "./commands.ts";

/** Loads the areas only for a deletion. Other commands do not need them. */
const CUSTOMER_DATA_ON_DEMAND: CustomerData = {
  async deleteOf(transaction, customerId) {
    const { CUSTOMER_DATA } = await import("../../app/customer-data.ts");
    for (const data of CUSTOMER_DATA) await data.deleteOf(transaction, customerId);
  },
};

/** `parallax customers`. Key changes are published to running services, which otherwise detect them within 1 s. */
export const CUSTOMERS_PROGRAM: OperatorProgram<CustomersContext> = {
  parse: parseCustomersCommand,
  open(database, _config, publish) {
    const onKeysChanged = () => publish(KEYS_TOPIC);
    const accounts = createAccounts({
      database,
      clock: systemClock,
      random: systemRandom,
      onKeysChanged,
      customerData: [CUSTOMER_DATA_ON_DEMAND],
    });
    return { ...accounts, usage: createUsageReader(database) };
  },
};
