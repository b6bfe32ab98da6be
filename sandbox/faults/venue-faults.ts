import { SANDBOX_VENUES, type SandboxVenue } from "../world/types.ts";
import { FAULT_DEFINITIONS, FAULT_NAMES, type FaultName, type FaultSetting, type FaultSettings } from "./switches.ts";

/** Uniform in (0, 1), the same for the same keys: the world's `uniform` with its seed, or a test's. */
export type KeyedRandom = (...keys: readonly [number, number, number, number]) => number;

/** Kinds of draws, so that keys never collide. */
const Draw = { happens: 1, picks: 2 } as const;

/**
 * The switches of one venue. Whether something happens is a function of the seed, the venue, the switch and how often
 * that switch was asked: the same requests meet the same faults.
 */
export class VenueFaults {
  readonly venue: SandboxVenue;
  readonly #random: KeyedRandom;
  readonly #asked = new Map<FaultName, number>();
  readonly #picked = new Map<FaultName, number>();
  readonly #happened = new Map<FaultName, number>();
  readonly #listeners = new Set<() => void>();
  #settings: FaultSettings = {};
  #isQuiet = true;

  constructor(venue: SandboxVenue, random: KeyedRandom) {
    this.venue = venue;
    this.#random = random;
  }

  /** No switch is on: whoever asks here first pays nothing else. */
  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  get settings(): FaultSettings {
    return this.#settings;
  }

  /** How often each fault has happened since the start, or since it was last forgotten. */
  get happened(): Partial<Readonly<Record<FaultName, number>>> {
    return Object.fromEntries(this.#happened);
  }

  isOn(name: FaultName): boolean {
    return (this.#settings[name]?.rate ?? 0) > 0;
  }

  /** Replaces all switches. */
  replace(settings: FaultSettings): void {
    this.#settings = Object.fromEntries(Object.entries(settings).filter(([, { rate }]) => rate > 0));
    this.#isQuiet = Object.keys(this.#settings).length === 0;
    for (const listener of this.#listeners) listener();
  }

  /** Changes those that are named; a rate of 0 turns one off. */
  change(settings: FaultSettings): void {
    this.replace({ ...this.#settings, ...settings });
  }

  /** What happened counts from 0 again; what is drawn next stays the same. */
  forgetHappened(): void {
    this.#happened.clear();
  }

  /** Calls back after every change of a switch, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * The switch's setting when the fault happens now, else null. It counts as happened: whoever asks has something in hand
   * that the fault will spoil.
   */
  draw(name: FaultName): FaultSetting | null {
    const setting = this.#settings[name];
    if (setting === undefined) return null;
    const turn = (this.#asked.get(name) ?? 0) + 1;
    this.#asked.set(name, turn);
    if (this.#uniform(Draw.happens, name, turn) >= setting.rate) return null;
    this.#happened.set(name, (this.#happened.get(name) ?? 0) + 1);
    return setting;
  }

  /** Uniform in (0, 1), for how a fault looks. */
  share(name: FaultName): number {
    const turn = (this.#picked.get(name) ?? 0) + 1;
    this.#picked.set(name, turn);
    return this.#uniform(Draw.picks, name, turn);
  }

  /** The kind that the setting names, or one of all there are. */
  kindOf(name: FaultName, setting: FaultSetting): string {
    const kind = FAULT_DEFINITIONS[name].parameters.kind;
    if (kind === undefined || !("choices" in kind)) return "";
    if (setting.kind !== kind.fallback) return String(setting.kind);
    return kind.choices[Math.floor(this.share(name) * kind.choices.length)] ?? "";
  }

  #uniform(draw: number, name: FaultName, turn: number): number {
    return this.#random(SANDBOX_VENUES.indexOf(this.venue), FAULT_NAMES.indexOf(name), draw, turn);
  }
}

export type SandboxFaults = Readonly<Record<SandboxVenue, VenueFaults>>;

/** Switches for every simulated venue, all off. */
export function createFaults(random: KeyedRandom): SandboxFaults {
  return {
    kalshi: new VenueFaults("kalshi", random),
    polymarket: new VenueFaults("polymarket", random),
    limitless: new VenueFaults("limitless", random),
    manifold: new VenueFaults("manifold", random),
  };
}
