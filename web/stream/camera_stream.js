import { Figures } from "./figures.js";
import { Pauses } from "./pauses.js";

/**
 * A camera's stream on a canvas. A worker of its own connects, decodes and paints, and connects again when the stream is
 * lost. Events, each with a `detail`:
 * - `state`: {state: "connecting"|"live"|"paused"|"lost"|"ended"|"refused", text}; after `lost` it is tried again
 * - `hello`: {width, height, channels, mode, threshold, rate, source, takesWishes}
 * - `frame`: {version, frame, time, threshold, objects, latencyMs, bytes, changed, decodeMs, messages, frames, dropped}, once
 *   per painting; bytes and decodeMs are sums over the `messages` since the one before, changed over the `frames` of the camera
 * - `answer`: {done, text}: how the camera stands after somebody's wish
 */
export class CameraStream extends EventTarget {
    #worker;
    /** For the worker, until it runs. @type {[any, Transferable[]][]|null} */
    #waiting = [];
    #pauses = new Pauses();
    #pause = 0;
    #name;
    #figures = new Figures();
    #calls = new Map();
    #nextCall = 0;

    /**
     * @param {{url: string|URL, name: string, token?: string, canvas: HTMLCanvasElement, webGl?: "gpu"|"any"}} options
     *     url: of the WebSocket, `ws://HOST/NAME/stream`; canvas: a fresh one, it is the worker's from then on; webGl:
     *     see painterOn()
     */
    constructor({ url, name, token = "", canvas, webGl = "gpu" }) {
        super();
        this.#name = name;
        const offscreen = canvas.transferControlToOffscreen();
        this.#order("open", { url: String(url), name, token, canvas: offscreen, webGl }, [offscreen]);
        this.#start();
    }

    /** Hangs up, and keeps the picture. */
    pause() {
        this.#order("pause");
    }

    /** Goes on from what is held; after `ended` or `refused`, too. */
    resume() {
        this.#order("resume");
    }

    /** The end of it, and of its worker. */
    close() {
        clearTimeout(this.#pause);
        if (this.#waiting) this.#worker.terminate();
        else this.#order("close");
        for (const { reject } of this.#calls.values()) reject(new Error("the stream was closed"));
        this.#calls.clear();
    }

    /** @param {"picture"|"changes"|"heat"} view */
    setView(view) {
        this.#order("setView", { view });
    }

    /** The picture as it is held, as PNG. @returns {Promise<Blob>} */
    snapshot() {
        return this.#ask("snapshot");
    }

    /**
     * The bytes held: B, G, R or gray.
     * @returns {Promise<{width: number, height: number, channels: number, data: Uint8Array, version: number}>}
     */
    pixels() {
        return this.#ask("pixels");
    }

    /** What the stream takes, over the last seconds; see Figures. */
    figures() {
        return this.#figures.at(performance.now());
    }

    #start() {
        const worker = this.#worker =
            new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: `camera ${this.#name}` });
        worker.onmessage = ({ data }) => {
            if (data.kind !== "ready") return this.#hear(data);
            for (const [message, transfer] of this.#waiting) worker.postMessage(message, transfer);
            this.#waiting = null;
        };
        // Before it runs, one of its files did not come: they are asked for again.
        worker.onerror = event => {
            const isLost = this.#waiting !== null, text = event.message || "the worker does not run";
            this.#hear({ kind: "state", detail: { state: isLost ? "lost" : "refused", text } });
            if (!isLost) return;
            worker.terminate();
            this.#pause = setTimeout(() => this.#start(), this.#pauses.next());
        };
    }

    #order(order, values = {}, transfer = []) {
        const message = { order, ...values };
        if (this.#waiting) this.#waiting.push([message, transfer]);
        else this.#worker.postMessage(message, transfer);
    }

    #ask(order) {
        const call = ++this.#nextCall;
        return new Promise((resolve, reject) => {
            this.#calls.set(call, { resolve, reject });
            this.#order(order, { call });
        });
    }

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
