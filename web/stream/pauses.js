const firstMs = 100, longestMs = 5000;

/** How long to wait before something is tried again: twice as long each time, up to five seconds. */
export class Pauses {
    #ms = firstMs;

    next() {
        const ms = this.#ms;
        this.#ms = Math.min(2 * ms, longestMs);
        return ms;
    }

    /** What was tried has worked. */
    reset() {
        this.#ms = firstMs;
    }
}
