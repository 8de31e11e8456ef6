// The module that knows the protocol and the codec: framewire's own C++ sources, as WebAssembly (wasm/exports.cpp).

/** What no server sends, in words. The decoder that met it is of no more use. */
export class StreamError extends Error {}

/** What became of a message (Taken in wasm/viewer.hpp). */
export const Taken = Object.freeze({ nothing: 0, picture: 1, ended: 2, hello: 3, refused: 4, clock: 5, answer: 6 });

/** Types of messages that carry a state. */
const pictureType = 2, changesType = 3;

const modes = ["exact", "lossless", "bounded"];

/** The numbers of report() in wasm/exports.cpp, by their place. */
const reportNames = [
    "width", "height", "channels", "mode", "greatest", "rate", "takesWishes", "reason", "version", "frame", "time",
    "threshold", "latencyMs", "changed", "dropped", "objects", "textBytes"
];

/**
 * @typedef {{width: number, height: number, channels: number, mode: string, threshold: number, rate: number,
 *     source: string, takesWishes: boolean}} Hello
 * @typedef {{id: number, x: number, y: number, width: number, height: number, area: number}} StreamObject
 * @typedef {{version: number, frame: number, time: number, threshold: number, latencyMs: number|null,
 *     dropped: number}} State
 */

const fetchMs = 20_000;

/**
 * Fetches and compiles the module. What comes after twenty seconds does not count.
 * @param {URL} url
 * @returns {Promise<WebAssembly.Module>}
 */
export async function fetchModule(url) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(fetchMs) });
    if (!answer.ok) throw new Error(`${url.pathname}: ${answer.status} ${answer.statusText}`);
    return WebAssembly.compile(await answer.arrayBuffer());
}

/** A viewer's copy of R, brought forward message by message. */
export class Decoder {
    #exports;

    /** @param {WebAssembly.Module} module */
    constructor(module) {
        const failed = (text, bytes) => {
            throw new StreamError(this.#text(text, bytes));
        };
        const imports = { framewire: { failed } };
        // What else libraries ask for is for a console, which there is none of.
        const noSuchFile = 8;
        for (const { module: from, name } of WebAssembly.Module.imports(module))
            (imports[from] ??= {})[name] ??= () => noSuchFile;
        this.#exports = new WebAssembly.Instance(module, imports).exports;
        this.#exports._initialize();
    }

    /**
     * What a new connection begins with. It tells what is held.
     * @param {string} name of the stream
     * @param {string} token
     * @returns {Uint8Array}
     */
    greet(name, token) {
        const encoder = new TextEncoder(), nameBytes = encoder.encode(name), tokenBytes = encoder.encode(token);
        const room = this.#incoming(nameBytes.length + tokenBytes.length);
        room.set(nameBytes);
        room.set(tokenBytes, nameBytes.length);
        this.#exports.greet(nameBytes.length);
        return this.#outgoing();
    }

    /** @param {Uint8Array} bytes the server's preamble */
    readPreamble(bytes) {
        this.#incoming(bytes.length).set(bytes);
        this.#exports.read_preamble();
    }

    /**
     * How many bytes follow a message's header: never more than that type can have in this stream.
     * @param {Uint8Array} header
     * @returns {number}
     */
    contentBytes(header) {
        this.#incoming(header.length).set(header);
        return this.#exports.content_bytes() >>> 0;
    }

    /**
     * @param {number} type of the message
     * @param {Uint8Array} content
     * @param {number} nowUs of the clock that drawn() tells
     * @returns {number} a Taken
     */
    take(type, content, nowUs) {
        this.#incoming(content.length).set(content);
        return this.#exports.take(type, nowUs);
    }

    /** @param {number} type */
    static carriesState(type) {
        return type === pictureType || type === changesType;
    }

    /**
     * The message that tells what was drawn; see docs/protocol.md.
     * @returns {Uint8Array}
     */
    drawn({ messages, version, clockUs, heldUs, comingUs }) {
        this.#exports.drawn(messages, version, clockUs, heldUs, comingUs);
        return this.#outgoing();
    }

    /** @returns {Hello} */
    hello() {
        const { width, height, channels, mode, greatest, rate, takesWishes } = this.#report(0);
        const source = this.#text(this.#exports.source(), this.#exports.source_bytes());
        return {
            width, height, channels, mode: modes[mode], threshold: greatest, rate, source, takesWishes: takesWishes === 1
        };
    }

    /**
     * Of the picture held. `latencyMs` is its age at that time, null before clocks were compared.
     * @param {number} nowUs
     * @returns {State}
     */
    state(nowUs) {
        const { version, frame, time, threshold, latencyMs, dropped } = this.#report(nowUs);
        // Clocks are compared to half an exchange: what is younger than that may seem to come from the future.
        const age = Number.isNaN(latencyMs) ? null : Math.max(latencyMs, 0);
        return { version, frame, time, threshold, latencyMs: age, dropped };
    }

    /** How many bytes of the picture the last message changed. */
    lastChanged() {
        return this.#report(0).changed;
    }

    /** Objects in the picture held. @returns {StreamObject[]} */
    objects() {
        const count = this.#report(0).objects;
        const numbers = new Int32Array(this.#exports.memory.buffer, this.#exports.objects(), 6 * count);
        return Array.from({ length: count }, (_, index) => {
            const [id, x, y, width, height, area] = numbers.subarray(6 * index);
            return { id, x, y, width, height, area };
        });
    }

    /** What the server said last: why it refuses, or what became of a wish. */
    said() {
        const { reason, textBytes } = this.#report(0);
        return { reason, text: this.#text(this.#exports.text(), textBytes) };
    }

    /**
     * The picture itself, not a copy: rows without gaps, B, G, R or gray; empty before the first complete one. Any later
     * call may move it.
     * @returns {Uint8Array}
     */
    picture() {
        const { width, height, channels } = this.#report(0);
        const at = this.#exports.picture();
        return at ? this.#bytes(at, width * height * channels) : new Uint8Array();
    }

    /** Of each block of 64 x 64 pixels, row by row, whether it came since painted(); not a copy. */
    touched() {
        const { width, height } = this.#report(0);
        return this.#bytes(this.#exports.touched(), Math.ceil(width / 64) * Math.ceil(height / 64));
    }

    /** Of each pixel, how far its furthest byte was changed by what was painted last; null where that is not kept. */
    marks() {
        const { width, height } = this.#report(0), at = this.#exports.marks();
        return at ? this.#bytes(at, width * height) : null;
    }

    /** @param {boolean} keep */
    keepMarks(keep) {
        this.#exports.keep_marks(Number(keep));
    }

    /** What came so far is painted. */
    painted() {
        this.#exports.painted();
    }

    #incoming(bytes) {
        return this.#bytes(this.#exports.incoming(bytes), bytes);
    }

    #outgoing() {
        return this.#bytes(this.#exports.outgoing(), this.#exports.outgoing_bytes()).slice();
    }

    // Views are made anew each time: memory that grows leaves the old ones empty.
    #bytes(at, count) {
        return new Uint8Array(this.#exports.memory.buffer, at, count);
    }

    #text(at, bytes) {
        return new TextDecoder().decode(this.#bytes(at, bytes));
    }

    #report(nowUs) {
        const numbers = new Float64Array(this.#exports.memory.buffer, this.#exports.report(nowUs), reportNames.length);
        return Object.fromEntries(reportNames.map((name, index) => [name, numbers[index]]));
    }
}
