import { isObject } from "../../lib/is-object.ts";
import { type CommandRequirements, type CommandResult, OPERATOR_LENGTH_MAX, type OperatorCommand } from "./command.ts";

/** A command that an operator's process sends to the running service. */
export interface ForwardedCommand {
  /** Name of the program, such as `customers`. */
  readonly command: string;
  readonly argv: readonly string[];
  readonly operator: string;
  /** Whether the operator has confirmed the command. */
  readonly isConfirmed?: boolean;
  /** Text of the command's input file. */
  readonly input?: string;
}

/** The result, or the missing requirements. The operator's process then sends the command again with them. */
export type ForwardedReply = CommandResult | CommandRequirements;

/** Runs a command of an operator in the service. */
export type CommandRunner = (request: ForwardedCommand) => Promise<ForwardedReply>;

/** Parses a command that was forwarded to the running service, and runs it there. */
export async function runInService<Context>(
  parse: (argv: readonly string[]) => CommandResult | OperatorCommand<Context>,
  context: Context,
  { argv, operator, isConfirmed = false, input }: ForwardedCommand,
): Promise<ForwardedReply> {
  const command = parse(argv);
  if (typeof command !== "function") return command;
  const { confirmation, inputFile } = command;
  if ((confirmation !== null && !isConfirmed) || (inputFile !== null && input === undefined))
    return { confirmation, inputFile };
  return command(context, { kind: "operator", id: operator.slice(0, OPERATOR_LENGTH_MAX) }, input);
}

export function isForwardedCommand(request: unknown): request is ForwardedCommand {
  if (!isObject(request)) return false;
  const { command, argv, operator, isConfirmed, input } = request;
  return (
    typeof command === "string" &&
    Array.isArray(argv) &&
    argv.every((entry) => typeof entry === "string") &&
    typeof operator === "string" &&
    (isConfirmed === undefined || typeof isConfirmed === "boolean") &&
    (input === undefined || typeof input === "string")
  );
}
