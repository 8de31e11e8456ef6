const firstMs = 100, longestMs = 5000;

/** Pauses between attempts: doubled each time, up to five seconds. */
export class Pauses {
    #ms = firstMs;

    /** Returns the next pause in milliseconds. */
    next() {
        const ms = this.#ms;
        this.#ms = Math.min(2 * ms, longestMs);
        return ms;
    }

    /** Starts again with the shortest pause. Call it after a success. */
    reset() {
        this.#ms = firstMs;
    }
}
