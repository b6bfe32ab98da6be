import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { StartupError } from "../startup-errors.ts";
import type { CommandRequirements, CommandResult } from "./command.ts";

/**
 * Maximum size of a file that a command reads, in bytes. It is small enough that the request which forwards the command
 * can contain the escaped text.
 */
const INPUT_BYTES_MAX = 2 * 1024 * 1024;
const CONFIRMATION_REQUIRED: CommandResult = {
  code: 2,
  out: "",
  err: "This command needs confirmation: run it in a terminal, or add --yes.\n",
};

/**
 * Reads the input file, and asks for the confirmation on the terminal. Returns the result of the command if the
 * operator does not confirm.
 *
 * @throws StartupError if the file cannot be read, is too large or is not UTF-8
 */
export async function collectCommandInput({
  confirmation,
  inputFile,
}: CommandRequirements): Promise<CommandResult | { readonly isConfirmed: true; readonly input: string }> {
  const input = inputFile === null ? "" : await readInputFile(inputFile);
  const refusal = confirmation === null ? null : await requestConfirmation(confirmation, process.stdin);
  return refusal ?? { isConfirmed: true, input };
}

async function readInputFile(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > INPUT_BYTES_MAX) throw new StartupError(`${path} is larger than ${INPUT_BYTES_MAX} bytes: split it.`);
    // Also removes a byte order mark.
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (error instanceof TypeError) throw new StartupError(`${path} is not UTF-8 text.`);
    if (error instanceof StartupError) throw error;
    const reason = error instanceof Error && "code" in error ? error.code : error;
    throw new StartupError(`${path} cannot be read (${reason}).`);
  }
}

/** Asks on the terminal. Returns null if the operator confirmed, else the result of the command. */
async function requestConfirmation(question: string, input: NodeJS.ReadStream): Promise<CommandResult | null> {
  if (!input.isTTY) return CONFIRMATION_REQUIRED;
  // The question is written to standard error, so that standard output contains only the result.
  const terminal = createInterface({ input, output: process.stderr });
  const closed = once(terminal, "close").then(() => "");
  const answer = await Promise.race([terminal.question(`${question}\nType "yes" to confirm: `), closed]);
  terminal.close();
  return answer.trim().toLowerCase() === "yes" ? null : { code: 1, out: "", err: "Nothing was changed.\n" };
}
