const windowMs = 3000;

/** What a stream takes, over the last seconds. */
export class Figures {
    #frames = [];
    #hello = null;
    #connections = 0;

    /** @param {import("./decoder.js").Hello} hello */
    greet(hello) {
        this.#hello = hello;
        this.#frames = [];
        ++this.#connections;
    }

    /**
     * @param {object} frame a `frame` event's detail
     * @param {number} nowMs
     */
    take(frame, nowMs) {
        this.#frames.push({ frame, atMs: nowMs });
        this.#forget(nowMs);
    }

    /**
     * `fps` counts painted frames, `latencyMs` is the newest, `decodeMs` that of one picture or step.
     * @param {number} nowMs
     * @returns {{fps: number, latencyMs: number|null, bitsPerSecond: number, rawBitsPerSecond: number,
     *     changedShare: number, threshold: number, dropped: number, decodeMs: number, connections: number}}
     */
    at(nowMs) {
        this.#forget(nowMs);
        const newest = this.#frames.at(-1)?.frame;
        const frameBytes = this.#hello ? this.#hello.width * this.#hello.height * this.#hello.channels : 0;
        const sum = key => this.#frames.reduce((total, { frame }) => total + frame[key], 0);
        const states = sum("states");
        // The first frame begins the time in which the others came.
        const seconds = this.#frames.length > 1 ? (nowMs - this.#frames[0].atMs) / 1000 : windowMs / 1000;
        const later = Math.max(this.#frames.length - 1, 0);
        return {
            fps: later / seconds,
            latencyMs: newest?.latencyMs ?? null,
            bitsPerSecond: this.#later("bytes") * 8 / seconds,
            rawBitsPerSecond: this.#later("states") * frameBytes * 8 / seconds,
            changedShare: newest && frameBytes ? newest.changed / newest.states / frameBytes : 0,
            threshold: newest?.threshold ?? this.#hello?.threshold ?? 0,
            dropped: newest?.dropped ?? 0,
            decodeMs: states ? sum("decodeMs") / states : 0,
            connections: this.#connections
        };
    }

    #later(key) {
        return this.#frames.slice(1).reduce((total, { frame }) => total + frame[key], 0);
    }

    #forget(nowMs) {
        const first = this.#frames.findIndex(({ atMs }) => nowMs - atMs <= windowMs);
        this.#frames.splice(0, first < 0 ? this.#frames.length : first);
    }
}
