import { SANDBOX_VENUES, type SandboxVenue } from "../world/types.ts";
import { FAULT_DEFINITIONS, FAULT_NAMES, type FaultName, type FaultSetting, type FaultSettings } from "./switches.ts";

/** Returns a uniform random number in (0, 1). Equal keys return equal numbers. */
export type KeyedRandom = (...keys: readonly [number, number, number, number]) => number;

/** Part of the random key: whether the number determines if a fault occurs, or a property of the fault. */
const DrawKind = { occurs: 1, property: 2 } as const;

/**
 * The fault switches of one venue. Whether a fault occurs depends only on the seed, the venue, the switch and the
 * number of previous draws of that switch, so equal requests get equal faults.
 */
export class VenueFaults {
  readonly venue: SandboxVenue;
  readonly #random: KeyedRandom;
  readonly #drawCounts = new Map<FaultName, number>();
  readonly #uniformCounts = new Map<FaultName, number>();
  readonly #counts = new Map<FaultName, number>();
  readonly #listeners = new Set<() => void>();
  #settings: FaultSettings = {};
  #isInactive = true;

  constructor(venue: SandboxVenue, random: KeyedRandom) {
    this.venue = venue;
    this.#random = random;
  }

  /** Whether all switches are off; callers then skip fault handling. */
  get isInactive(): boolean {
    return this.#isInactive;
  }

  get settings(): FaultSettings {
    return this.#settings;
  }

  /** Number of occurrences of each fault since the start or the last reset. */
  get counts(): Partial<Readonly<Record<FaultName, number>>> {
    return Object.fromEntries(this.#counts);
  }

  isOn(name: FaultName): boolean {
    return (this.#settings[name]?.rate ?? 0) > 0;
  }

  /** Replaces all switches. */
  replace(settings: FaultSettings): void {
    this.#settings = Object.fromEntries(Object.entries(settings).filter(([, { rate }]) => rate > 0));
    this.#isInactive = Object.keys(this.#settings).length === 0;
    for (const listener of this.#listeners) listener();
  }

  /** Changes the given switches and keeps the others; a rate of 0 turns a switch off. */
  change(settings: FaultSettings): void {
    this.replace({ ...this.#settings, ...settings });
  }

  /** Sets all counts to 0. Later draws do not change. */
  resetCounts(): void {
    this.#counts.clear();
  }

  /** Calls `listener` after every change of the switches, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Draws whether the fault occurs. Returns the setting of the switch if it occurs, else null. An occurrence is
   * counted, so call this only if the fault can apply.
   */
  draw(name: FaultName): FaultSetting | null {
    const setting = this.#settings[name];
    if (setting === undefined) return null;
    if (this.#drawNumber(this.#drawCounts, DrawKind.occurs, name) >= setting.rate) return null;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return setting;
  }

  /** Returns a uniform random number in (0, 1) for a property of the fault. */
  uniform(name: FaultName): number {
    return this.#drawNumber(this.#uniformCounts, DrawKind.property, name);
  }

  /** Returns the `kind` of the setting, or a random kind if it is "any". */
  pickKind(name: FaultName, setting: FaultSetting): string {
    const kind = FAULT_DEFINITIONS[name].parameters.kind;
    if (kind === undefined || !("choices" in kind)) return "";
    if (setting.kind !== kind.fallback) return String(setting.kind);
    return kind.choices[Math.floor(this.uniform(name) * kind.choices.length)] ?? "";
  }

  #drawNumber(counts: Map<FaultName, number>, kind: number, name: FaultName): number {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return this.#random(SANDBOX_VENUES.indexOf(this.venue), FAULT_NAMES.indexOf(name), kind, count);
  }
}

export type SandboxFaults = Readonly<Record<SandboxVenue, VenueFaults>>;

/** Creates the fault switches of every simulated venue; all switches are off. */
export function createFaults(random: KeyedRandom): SandboxFaults {
  return {
    kalshi: new VenueFaults("kalshi", random),
    polymarket: new VenueFaults("polymarket", random),
    limitless: new VenueFaults("limitless", random),
    manifold: new VenueFaults("manifold", random),
  };
}
