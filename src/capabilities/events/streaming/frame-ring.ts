import type { Frame } from "./frame.ts";

/** The newest frames of the log in memory, in ascending order of ids, bounded by count and bytes. */
export class FrameRing {
  readonly #countMax: number;
  readonly #bytesMax: number;
  #frames: Frame[] = [];
  /** Index of the oldest frame in `#frames`. */
  #start = 0;
  #bytes = 0;
  #floor: number;
  #through: number;

  /** @param position  the ring holds the events after this id */
  constructor(options: { readonly countMax: number; readonly bytesMax: number; readonly position: number }) {
    this.#countMax = options.countMax;
    this.#bytesMax = options.bytesMax;
    this.#floor = options.position;
    this.#through = options.position;
  }

  /** The ring holds every event after this id and up to `through`. */
  get floor(): number {
    return this.#floor;
  }

  get through(): number {
    return this.#through;
  }

  /** Adds a batch. @param through  the last id that was scanned, at least the id of the last frame */
  add(frames: readonly Frame[], through: number): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#bytes += frame.bytes.length;
    }
    this.#through = through;
    while (this.#frames.length - this.#start > this.#countMax || this.#bytes > this.#bytesMax) this.#dropOldest();
    // The array is shortened rarely, because removing its first element moves all others.
    if (this.#start > this.#countMax) {
      this.#frames = this.#frames.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Removes all frames. The ring then holds the events after `position`. */
  reset(position: number): void {
    this.#frames = [];
    this.#start = 0;
    this.#bytes = 0;
    this.#floor = position;
    this.#through = position;
  }

  /** Yields the frames after `position`, which must be at least `floor`. Must not be interrupted by `add` or `reset`. */
  *after(position: number): Generator<Frame, void, void> {
    for (let index = this.#firstIndexAfter(position); index < this.#frames.length; index++)
      yield this.#frames[index] as Frame;
  }

  #firstIndexAfter(position: number): number {
    let low = this.#start;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#frames[middle] as Frame).id <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #dropOldest(): void {
    const frame = this.#frames[this.#start] as Frame;
    this.#bytes -= frame.bytes.length;
    this.#floor = frame.id;
    // Releases the frame before the array is shortened.
    (this.#frames as (Frame | undefined)[])[this.#start] = undefined;
    this.#start += 1;
  }
}
