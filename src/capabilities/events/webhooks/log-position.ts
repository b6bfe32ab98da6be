/** Maximum number of skipped ids before the position is stored. A restart reads these ids again. */
const UNSAVED_IDS_MAX = 1_000;

/** An event whose first attempt has started. */
export interface StartedEvent {
  readonly id: number;
  /** Whether the event was attempted and its result was passed to the result writer. */
  isDone: boolean;
}

/** Position of a worker in the event log. The stored position is before the first unfinished event. */
export class LogPosition {
  #read: number;
  #saved: number;
  /** Started events in the order of the log. */
  readonly #unsettled: StartedEvent[] = [];

  constructor(position: number) {
    this.#read = position;
    this.#saved = position;
  }

  /** Id of the last started or skipped event. */
  get read(): number {
    return this.#read;
  }

  /** Number of events from the first unfinished event on. */
  get unsettled(): number {
    return this.#unsettled.length;
  }

  start(id: number): StartedEvent {
    const event = { id, isDone: false };
    this.#unsettled.push(event);
    this.#read = id;
    return event;
  }

  isLast(event: StartedEvent): boolean {
    return this.#unsettled.at(-1) === event;
  }

  /** Skips the events up to `through`, which are of other types. */
  skipTo(through: number): void {
    this.#read = Math.max(this.#read, through);
  }

  /** Returns the position if it must be stored now, else null. */
  takeUnsaved(): number | null {
    let through = this.#saved;
    while (this.#unsettled[0]?.isDone === true) through = this.#unsettled.shift()?.id ?? through;
    const mustSave = through > this.#saved;
    if (this.#unsettled.length === 0) through = this.#read;
    if (!mustSave && through - this.#saved < UNSAVED_IDS_MAX) return null;
    this.#saved = through;
    return through;
  }
}
