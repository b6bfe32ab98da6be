import type { App } from "../app.ts";
import { CUSTOMERS_PROGRAM } from "./customers/run.ts";
import { MATCHES_PROGRAM } from "./matches/run.ts";
import { type CommandRunner, createForwardedRunner, runInService } from "./operator/run.ts";
import { TRACK_RECORD_PROGRAM } from "./track-record/run.ts";

/** Returns a function that runs the commands that operators send to this service. */
export function createCommandHandler({
  customers,
  matching,
  metering,
  trading,
}: Pick<App, "customers" | "matching" | "metering" | "trading">) {
  const runners = new Map<string, CommandRunner>();
  const customersContext = { ...customers, usage: metering.usage };
  runners.set("customers", (argv, operator) => runInService(CUSTOMERS_PROGRAM, customersContext, argv, operator));
  runners.set("track-record", (argv, operator) => runInService(TRACK_RECORD_PROGRAM, trading.book, argv, operator));
  // A node without the API has no pairs; the command then asks another node.
  if (matching !== null)
    runners.set("matches", (argv, operator) => runInService(MATCHES_PROGRAM, matching, argv, operator));
  return createForwardedRunner(runners);
}
