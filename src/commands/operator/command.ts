import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { AppError } from "../../domain/errors.ts";
import { isArgumentError } from "../terminal.ts";

/** Maximum length of an operator's stored name. */
export const OPERATOR_LENGTH_MAX = 64;

/** The result of a command: exit code, standard output and standard error. */
export interface CommandResult {
  readonly code: 0 | 1 | 2;
  readonly out: string;
  readonly err: string;
}

export interface Operator {
  readonly kind: "operator";
  readonly id: string;
}

/** The confirmation and the input file that a command requires before it runs. */
export interface CommandRequirements {
  /** What the operator must confirm; null if the command needs no confirmation. */
  readonly confirmation: string | null;
  /** Path of the file whose text the command reads; null if it reads none. */
  readonly inputFile: string | null;
}

/** A parsed command, ready to run. */
export interface OperatorCommand<Context> extends CommandRequirements {
  /** @param input  text of `inputFile`; empty if that is null */
  (context: Context, operator: Operator, input?: string): Promise<CommandResult>;
  /** Whether only a running service has the data. */
  readonly needsService: boolean;
}

/** An invalid command line. The message is shown to the user. */
export class UsageError extends Error {}

export interface CommandOutput {
  readonly json: unknown;
  readonly text: string;
  /** Written to standard error, for example when there are more results. */
  readonly note?: string;
  /** True if the command ran and its check failed: exit code 1. */
  readonly hasFailed?: boolean;
}

export interface Arguments<Options> {
  /** Returns the positional argument at `index`. @throws UsageError if it is required and missing */
  at(index: number, description: string): string;
  readonly options: Options;
}

export interface Subcommand<Context, Options> {
  /** Minimum and maximum number of positional arguments. */
  readonly argumentCount: readonly [number, number] | ((options: Options) => readonly [number, number]);
  readonly options: readonly (keyof Options)[];
  parse(args: Arguments<Options>): (context: Context, operator: Operator, input: string) => Promise<CommandOutput>;
  /** Path of the file whose text `parse`'s result reads. */
  inputFile?(args: Arguments<Options>): string | null;
  /** What the operator must confirm unless the option `yes` is set. */
  confirmation?(args: Arguments<Options>): string;
  readonly needsService?: boolean;
}

/** The values of options, by their definitions for `parseArgs`. */
export type OptionValues<Definitions extends ParseArgsOptionsConfig> = {
  readonly [Name in keyof Definitions]?: Definitions[Name]["type"] extends "boolean" ? boolean : string;
};

/** A command of the program with its subcommands. */
export interface CommandGroup<Context, Options> {
  readonly name: string;
  /** The output of `--help`. */
  readonly usage: string;
  /** All options but `help` and `json`. Their types must be those of `Options`. */
  readonly options: ParseArgsOptionsConfig;
  readonly subcommands: Readonly<Record<string, Subcommand<Context, Options>>>;
}

/** Parses the arguments after the group's name. Returns a result for `--help` and for invalid usage (exit code 2). */
export function parseCommand<Context, Options extends object>(
  group: CommandGroup<Context, Options>,
  argv: readonly string[],
): CommandResult | OperatorCommand<Context> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" }, json: { type: "boolean" }, ...group.options },
    });
    const { help, json, ...options } = values;
    if (help === true) return { code: 0, out: group.usage, err: "" };
    const [name = "", ...args] = positionals;
    // `parseArgs` returns the types that `group.options` describes.
    const { run, ...properties } = parseSubcommand(group, name, args, options as unknown as Options);
    const command = (context: Context, operator: Operator, input = "") =>
      runCommand(group.name, () => run(context, operator, input), json === true);
    return Object.assign(command, properties);
  } catch (error) {
    if (error instanceof UsageError || isArgumentError(error)) return createUsageFailure(group.name, error.message);
    throw error;
  }
}

function parseSubcommand<Context, Options extends object>(
  group: CommandGroup<Context, Options>,
  name: string,
  args: readonly string[],
  options: Options,
) {
  const subcommand = Object.hasOwn(group.subcommands, name) ? group.subcommands[name] : undefined;
  if (subcommand === undefined)
    throw new UsageError(name === "" ? "Missing command." : `There is no command "${group.name} ${name}".`);
  for (const option of Object.keys(options))
    if (!subcommand.options.includes(option as keyof Options))
      throw new UsageError(`"${group.name} ${name}" has no option --${option}.`);
  const { argumentCount } = subcommand;
  const [min, max] = typeof argumentCount === "function" ? argumentCount(options) : argumentCount;
  if (args.length > max) throw new UsageError(`Too many arguments for "${group.name} ${name}".`);
  const at = (index: number, description: string) => {
    const argument = args[index];
    if (argument === undefined && index < min) throw new UsageError(`"${group.name} ${name}" needs ${description}.`);
    return argument ?? "";
  };
  const parsedArguments = { at, options };
  const confirmation =
    "yes" in options && options.yes === true ? null : (subcommand.confirmation?.(parsedArguments) ?? null);
  return {
    run: subcommand.parse(parsedArguments),
    confirmation,
    inputFile: subcommand.inputFile?.(parsedArguments) ?? null,
    needsService: subcommand.needsService === true,
  };
}

async function runCommand(name: string, run: () => Promise<CommandOutput>, asJson: boolean): Promise<CommandResult> {
  try {
    const { json, text, note = "", hasFailed = false } = await run();
    return { code: hasFailed ? 1 : 0, out: asJson ? `${JSON.stringify(json, null, 2)}\n` : text, err: note };
  } catch (error) {
    if (error instanceof UsageError || error instanceof RangeError) return createUsageFailure(name, error.message);
    if (error instanceof AppError) return { code: 1, out: "", err: `${error.message}.\n` };
    throw error;
  }
}

export function parseInteger(label: string, text: string, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw new UsageError(`${label}: must be an integer from 1 to ${max}.`);
}

const createUsageFailure = (name: string, message: string): CommandResult => ({
  code: 2,
  out: "",
  err: `${message} Try "${name} --help".\n`,
});
