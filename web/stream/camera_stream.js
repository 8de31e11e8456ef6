import { Figures } from "./figures.js";
import { Pauses } from "./pauses.js";

/**
 * One camera's stream on a canvas. A worker connects, decodes and paints, and reconnects after a loss. Events, each
 * with a `detail`:
 * - `state`: {state: "connecting"|"live"|"paused"|"lost"|"ended"|"refused", text}; after `lost` it reconnects
 * - `hello`: {width, height, channels, mode, threshold, rate, source, takesControlRequests}
 * - `frame`: {version, frame, time, threshold, objects, latencyMs, bytes, changed, decodeMs, messages, frames,
 *   dropped}, once per painting; bytes and decodeMs are sums over the `messages` since the previous painting, changed
 *   over the camera's `frames`
 * - `answer`: {done, text}: the camera's settings after a control request of any viewer
 */
export class CameraStream extends EventTarget {
    #worker;
    /** Messages for the worker until it runs; null afterwards. @type {[any, Transferable[]][]|null} */
    #waiting = [];
    #pauses = new Pauses();
    #pause = 0;
    #name;
    #figures = new Figures();
    #calls = new Map();
    #nextCall = 0;

    /**
     * Starts the worker and connects.
     * @param {{url: string|URL, name: string, token?: string, canvas: HTMLCanvasElement, webGl?: "gpu"|"any"}} options
     *     url: address of the WebSocket, `ws://HOST/NAME/stream`; canvas: without a context, because its control passes
     *     to the worker; webGl: see painterOn()
     */
    constructor({ url, name, token = "", canvas, webGl = "gpu" }) {
        super();
        this.#name = name;
        const offscreen = canvas.transferControlToOffscreen();
        this.#order("open", { url: String(url), name, token, canvas: offscreen, webGl }, [offscreen]);
        this.#start();
    }

    /** Disconnects and keeps the picture. */
    pause() {
        this.#order("pause");
    }

    /** Reconnects and continues from the current picture, also after `ended` or `refused`. */
    resume() {
        this.#order("resume");
    }

    /** Disconnects and ends the worker. Pending promises are rejected. */
    close() {
        clearTimeout(this.#pause);
        if (this.#waiting) this.#worker.terminate();
        else this.#order("close");
        for (const { reject } of this.#calls.values()) reject(new Error("the stream was closed"));
        this.#calls.clear();
    }

    /** Selects what is painted: the picture, or what changed in it. @param {"picture"|"changes"|"heat"} view */
    setView(view) {
        this.#order("setView", { view });
    }

    /** Returns the current picture as PNG. @returns {Promise<Blob>} */
    snapshot() {
        return this.#ask("snapshot");
    }

    /**
     * Returns the bytes of the current picture: B, G, R or gray.
     * @returns {Promise<{width: number, height: number, channels: number, data: Uint8Array, version: number}>}
     */
    pixels() {
        return this.#ask("pixels");
    }

    /** Returns the stream's statistics over the last seconds, see Figures.at(). */
    figures() {
        return this.#figures.at(performance.now());
    }

    // Starts a worker and queues messages until it reports that it runs.
    #start() {
        const worker = this.#worker =
            new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: `camera ${this.#name}` });
        worker.onmessage = ({ data }) => {
            if (data.kind !== "ready") return this.#hear(data);
            for (const [message, transfer] of this.#waiting) worker.postMessage(message, transfer);
            this.#waiting = null;
        };
        // An error before the worker runs means that one of its files could not be loaded. Starts the worker again.
        worker.onerror = event => {
            const isLost = this.#waiting !== null, text = event.message || "the worker does not run";
            this.#hear({ kind: "state", detail: { state: isLost ? "lost" : "refused", text } });
            if (!isLost) return;
            worker.terminate();
            this.#pause = setTimeout(() => this.#start(), this.#pauses.next());
        };
    }

    // Sends a message to the worker.
    #order(order, values = {}, transfer = []) {
        const message = { order, ...values };
        if (this.#waiting) this.#waiting.push([message, transfer]);
        else this.#worker.postMessage(message, transfer);
    }

    // Sends a message to the worker and returns a promise of its reply.
    #ask(order) {
        const call = ++this.#nextCall;
        return new Promise((resolve, reject) => {
            this.#calls.set(call, { resolve, reject });
            this.#order(order, { call });
        });
    }

    // Handles a message of the worker: a reply, or an event.
    #hear({ kind, detail }) {
        if (kind === "value") {
            const call = this.#calls.get(detail.call);
            this.#calls.delete(detail.call);
            if (detail.error === undefined) call?.resolve(detail.value);
            else call?.reject(new Error(detail.error));
            return;
        }
        if (kind === "hello") this.#figures.greet(detail);
        if (kind === "frame") this.#figures.take(detail, performance.now());
        this.dispatchEvent(new CustomEvent(kind, { detail }));
    }
}
