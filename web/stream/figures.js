const windowMs = 3000;

/** Statistics of a stream over the last three seconds. */
export class Figures {
    #frames = [];
    #hello = null;
    #connections = 0;

    /** Starts again with a new connection. @param {import("./decoder.js").Hello} hello */
    greet(hello) {
        this.#hello = hello;
        this.#frames = [];
        ++this.#connections;
    }

    /**
     * Adds one painting.
     * @param {object} frame detail of a `frame` event
     * @param {number} nowMs
     */
    take(frame, nowMs) {
        this.#frames.push({ frame, atMs: nowMs });
        this.#forget(nowMs);
    }

    /**
     * Returns the statistics at a time. `fps` counts painted camera frames, without refinements of a frame that was
     * painted before. `rawBitsPerSecond` is the bitrate of uncompressed frames at the camera's rate. `changedShare` is
     * the share of bytes that the newest painting changed, per camera frame. `latencyMs` is the latest value and
     * `decodeMs` the average per message.
     * @param {number} nowMs
     * @returns {{fps: number, latencyMs: number|null, bitsPerSecond: number, rawBitsPerSecond: number, changedShare:
     *     number, threshold: number, dropped: number, decodeMs: number, connections: number}}
     */
    at(nowMs) {
        this.#forget(nowMs);
        const newest = this.#frames.at(-1)?.frame, newestFrame = this.#frames.findLast(({ frame }) => frame.frames)?.frame;
        const frameBytes = this.#hello ? this.#hello.width * this.#hello.height * this.#hello.channels : 0;
        const sum = key => this.#frames.reduce((total, { frame }) => total + frame[key], 0);
        const messages = sum("messages");
        // The interval starts with the first frame, so only the later ones count.
        const seconds = this.#frames.length > 1 ? (nowMs - this.#frames[0].atMs) / 1000 : windowMs / 1000;
        const later = this.#frames.slice(1);
        return {
            fps: later.filter(({ frame }) => frame.frames > 0).length / seconds,
            latencyMs: newest?.latencyMs ?? null,
            bitsPerSecond: later.reduce((total, { frame }) => total + frame.bytes, 0) * 8 / seconds,
            rawBitsPerSecond: (this.#hello?.rate ?? 0) * frameBytes * 8,
            changedShare: newestFrame && frameBytes ? newestFrame.changed / newestFrame.frames / frameBytes : 0,
            threshold: newest?.threshold ?? this.#hello?.threshold ?? 0,
            dropped: newest?.dropped ?? 0,
            decodeMs: messages ? sum("decodeMs") / messages : 0,
            connections: this.#connections
        };
    }

    #forget(nowMs) {
        const first = this.#frames.findIndex(({ atMs }) => nowMs - atMs <= windowMs);
        this.#frames.splice(0, first < 0 ? this.#frames.length : first);
    }
}
