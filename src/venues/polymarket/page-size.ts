/** Events per request, largest first. The venue returns at most 100. */
const PAGE_SIZES = [100, 50, 25, 10] as const;
/** Number of pages at one size after which the next larger size is tried. */
const PAGES_BEFORE_GROWTH_MIN = 20;
const PAGES_BEFORE_GROWTH_MAX = 640;

/**
 * The number of events to request per page. The size decreases if a response is too large or too slow. It increases
 * after a number of successful pages, which doubles each time that the larger size fails again.
 */
export class PageSize {
  #index = 0;
  #successes = 0;
  #pagesBeforeGrowth = PAGES_BEFORE_GROWTH_MIN;
  /** True if the size was increased and may still be too large. */
  #isTrial = false;

  get current(): number {
    return PAGE_SIZES[this.#index] ?? PAGE_SIZES[0];
  }

  recordSuccess(): void {
    this.#successes += 1;
    if (this.#isTrial && this.#successes >= PAGES_BEFORE_GROWTH_MIN) {
      this.#isTrial = false;
      this.#pagesBeforeGrowth = PAGES_BEFORE_GROWTH_MIN;
    }
    if (this.#index === 0 || this.#successes < this.#pagesBeforeGrowth) return;
    this.#index -= 1;
    this.#successes = 0;
    this.#isTrial = true;
  }

  /** Selects the next smaller size. Returns false if there is none. */
  shrink(): boolean {
    this.#successes = 0;
    if (this.#isTrial) this.#pagesBeforeGrowth = Math.min(PAGES_BEFORE_GROWTH_MAX, this.#pagesBeforeGrowth * 2);
    this.#isTrial = false;
    if (this.#index === PAGE_SIZES.length - 1) return false;
    this.#index += 1;
    return true;
  }
}
