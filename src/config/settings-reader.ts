import { SETTINGS } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads typed values from the environment and collects every error instead of stopping at the first. */
export class SettingsReader {
  readonly errors: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Returns the setting's text, or its default if it is unset or empty. */
  text(name: string): string {
    return this.#environment[name] || (SETTINGS.find((setting) => setting.name === name)?.defaultValue ?? "");
  }

  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  /** Returns the non-empty entries of a comma-separated list. */
  list(name: string): string[] {
    return this.text(name)
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "");
  }

  integer(name: string, min: number, max: number): number {
    const text = this.text(name);
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    this.errors.push(`${name}=${text}: give a whole number from ${min} to ${max}`);
    return min;
  }

  /** Returns a number in decimal notation. */
  decimal(name: string, min: number, max: number): number {
    const text = this.text(name);
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
    this.errors.push(`${name}=${text}: give a number from ${min} to ${max}`);
    return min;
  }

  oneOf<T extends string>(name: string, choices: readonly [T, ...T[]]): T {
    const text = this.text(name);
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) this.errors.push(`${name}=${text}: give one of ${choices.join(", ")}`);
    return choice ?? choices[0];
  }

  /**
   * Returns a URL without a trailing slash, or null if the setting is empty. `address` overrides the environment's
   * value.
   */
  url(name: string, schemes: readonly string[], address = this.text(name)): string | null {
    if (address === "") return null;
    if (URL.canParse(address) && schemes.includes(new URL(address).protocol)) return address.replace(/\/+$/, "");
    this.errors.push(`${name}: give a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`);
    return null;
  }
}
