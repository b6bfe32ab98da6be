import type { App } from "../app/index.ts";
import { parseCustomersCommand } from "./customers/commands.ts";
import { parseMatchesCommand } from "./matches/commands.ts";
import { type CommandRunner, type ForwardedReply, isForwardedCommand, runInService } from "./operator/forwarded.ts";
import { parseTrackRecordCommand } from "./track-record/commands.ts";

/** Returns a function that runs the commands that operators send to this service. */
export function createCommandHandler({
  customers,
  matching,
  metering,
  trading,
}: Pick<App, "customers" | "matching" | "metering" | "trading">) {
  const runners = new Map<string, CommandRunner>();
  const customersContext = { ...customers, usage: metering.usage };
  runners.set("customers", (request) => runInService(parseCustomersCommand, customersContext, request));
  runners.set("track-record", (request) => runInService(parseTrackRecordCommand, trading.book, request));
  // A node without the API has no pairs; the command is then sent to another node.
  if (matching !== null) runners.set("matches", (request) => runInService(parseMatchesCommand, matching, request));
  return async (request: unknown): Promise<ForwardedReply> => {
    if (!isForwardedCommand(request)) throw new TypeError("invalid operator command");
    const run = runners.get(request.command);
    if (run === undefined) throw new TypeError(`this service does not run the operator command ${request.command}`);
    return run(request);
  };
}
