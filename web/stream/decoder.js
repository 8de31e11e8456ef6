// The decoder knows the protocol and the codec: it is framewire's C++ code compiled to WebAssembly (wasm/exports.cpp).

/** A violation of the protocol. The decoder that reported it must not be used again. */
export class StreamError extends Error {}

/** Results of a message; the values equal those of Taken in wasm/viewer.hpp. */
export const Taken = Object.freeze({ nothing: 0, picture: 1, ended: 2, hello: 3, refused: 4, clock: 5, answer: 6 });

/** Types of messages that contain picture data (MessageType in net/wire). */
const pictureType = 2, changesType = 3;

const modes = ["exact", "lossless", "bounded"];

/** Names of the numbers that report() in wasm/exports.cpp returns, by index. */
const reportNames = [
    "width", "height", "channels", "mode", "greatest", "rate", "takesControlRequests", "reason", "version", "frame", "time",
    "threshold", "latencyMs", "changed", "dropped", "objects", "textBytes"
];

/**
 * @typedef {{width: number, height: number, channels: number, mode: string, threshold: number, rate: number,
 *     source: string, takesControlRequests: boolean}} Hello
 * @typedef {{id: number, x: number, y: number, width: number, height: number, area: number}} StreamObject
 * @typedef {{version: number, frame: number, time: number, threshold: number, latencyMs: number|null,
 *     dropped: number}} State
 */

const fetchMs = 20_000;

/**
 * Fetches and compiles the module. Fails after 20 seconds.
 * @param {URL} url
 * @returns {Promise<WebAssembly.Module>}
 */
export async function fetchModule(url) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(fetchMs) });
    if (!answer.ok) throw new Error(`${url.pathname}: ${answer.status} ${answer.statusText}`);
    return WebAssembly.compile(await answer.arrayBuffer());
}

/** A viewer's copy of R, updated message by message. */
export class Decoder {
    #exports;

    /** Creates an instance with its own memory. @param {WebAssembly.Module} module */
    constructor(module) {
        const failed = (text, bytes) => {
            throw new StreamError(this.#text(text, bytes));
        };
        const imports = { framewire: { failed } };
        // The libraries import functions for file output, which this module does not need.
        const noSuchFile = 8;
        for (const { module: from, name } of WebAssembly.Module.imports(module))
            (imports[from] ??= {})[name] ??= () => noSuchFile;
        this.#exports = new WebAssembly.Instance(module, imports).exports;
        this.#exports._initialize();
    }

    /**
     * Returns the first message of a new connection. It announces the block versions held.
     * @param {string} name the stream's name
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

    /** Checks the server's preamble. @param {Uint8Array} bytes */
    readPreamble(bytes) {
        this.#incoming(bytes.length).set(bytes);
        this.#exports.read_preamble();
    }

    /**
     * Returns the length of the content that follows a message header. Throws if the type cannot have that length in
     * this stream.
     * @param {Uint8Array} header
     * @returns {number}
     */
    contentBytes(header) {
        this.#incoming(header.length).set(header);
        return this.#exports.content_bytes() >>> 0;
    }

    /**
     * Applies one message of the server.
     * @param {number} type the message's type
     * @param {Uint8Array} content
     * @param {number} nowUs time on the clock whose values are passed to drawn()
     * @returns {number} a value of Taken
     */
    take(type, content, nowUs) {
        this.#incoming(content.length).set(content);
        return this.#exports.take(type, nowUs);
    }

    /** Returns true if messages of this type contain picture data. @param {number} type */
    static carriesState(type) {
        return type === pictureType || type === changesType;
    }

    /** Returns an acknowledgement; see docs/protocol.md. @returns {Uint8Array} */
    drawn({ messages, version, clockUs, heldUs, comingUs }) {
        this.#exports.drawn(messages, version, clockUs, heldUs, comingUs);
        return this.#outgoing();
    }

    /** Returns the parameters of the stream. @returns {Hello} */
    hello() {
        const { width, height, channels, mode, greatest, rate, takesControlRequests } = this.#report(0);
        const source = this.#text(this.#exports.source(), this.#exports.source_bytes());
        return {
            width, height, channels, mode: modes[mode], threshold: greatest, rate, source, takesControlRequests: takesControlRequests === 1
        };
    }

    /**
     * Returns the state of the current picture. `latencyMs` is its age at `nowUs`, or null before the clocks have been
     * compared.
     * @param {number} nowUs
     * @returns {State}
     */
    state(nowUs) {
        const { version, frame, time, threshold, latencyMs, dropped } = this.#report(nowUs);
        // The comparison is exact to half an exchange, so a picture younger than that can appear to come from the
        // future.
        const age = Number.isNaN(latencyMs) ? null : Math.max(latencyMs, 0);
        return { version, frame, time, threshold, latencyMs: age, dropped };
    }

    /** Returns how many bytes of the picture the last message changed. */
    lastChanged() {
        return this.#report(0).changed;
    }

    /** Returns the objects in the current picture. @returns {StreamObject[]} */
    objects() {
        const count = this.#report(0).objects;
        const numbers = new Int32Array(this.#exports.memory.buffer, this.#exports.objects(), 6 * count);
        return Array.from({ length: count }, (_, index) => {
            const [id, x, y, width, height, area] = numbers.subarray(6 * index);
            return { id, x, y, width, height, area };
        });
    }

    /** Returns the server's last text: the reason of a refusal, or the answer to a control request. */
    said() {
        const { reason, textBytes } = this.#report(0);
        return { reason, text: this.#text(this.#exports.text(), textBytes) };
    }

    /**
     * Returns the picture as a view, not a copy: rows without gaps, B, G, R or gray. Empty before the first complete
     * state. Any later call may invalidate the view.
     * @returns {Uint8Array}
     */
    picture() {
        const { width, height, channels } = this.#report(0);
        const at = this.#exports.picture();
        return at ? this.#bytes(at, width * height * channels) : new Uint8Array();
    }

    /**
     * Returns one byte per 64x64 block in row order: nonzero if the block has changed since painted(). A view, not a
     * copy.
     */
    touched() {
        const { width, height } = this.#report(0);
        return this.#bytes(this.#exports.touched(), Math.ceil(width / 64) * Math.ceil(height / 64));
    }

    /**
     * Returns per pixel the largest change of its bytes since the last painting, or null if marks are off. A view, not
     * a copy.
     */
    marks() {
        const { width, height } = this.#report(0), at = this.#exports.marks();
        return at ? this.#bytes(at, width * height) : null;
    }

    /** Turns marks on or off. @param {boolean} keep */
    keepMarks(keep) {
        this.#exports.keep_marks(Number(keep));
    }

    /** Clears touched() after painting. */
    painted() {
        this.#exports.painted();
    }

    #incoming(bytes) {
        return this.#bytes(this.#exports.incoming(bytes), bytes);
    }

    #outgoing() {
        return this.#bytes(this.#exports.outgoing(), this.#exports.outgoing_bytes()).slice();
    }

    // A new view is created each time, because memory growth detaches existing views.
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
