// The worker of one camera: connection, decoder and painting run here, not on the page's thread. camera_stream.js is
// the other side.

import { fetchModule } from "./decoder.js";
import { painterOn } from "./painter.js";
import { Pauses } from "./pauses.js";
import { rgbaOf } from "./pixels.js";
import { Session } from "./session.js";
import { touchedAreas } from "./touched_areas.js";
import { dialWebSocket } from "./web_socket.js";

/**
 * Browsers do not call requestAnimationFrame() for hidden pages, which paint and acknowledge after this time instead.
 */
const longestWaitMs = 250;

class CameraWorker {
    #painter;
    #session;
    #view = "picture";
    #hello = null;
    #waits = [];
    /** Number of the newest complete frame. */
    #frame = -1;
    /** Bytes changed by the messages of the state that is being received. */
    #changing = 0;
    #came = nothingCame();

    constructor({ canvas, url, name, token, webGl }, module) {
        this.#painter = painterOn(canvas, webGl);
        this.#session = new Session({
            module,
            name,
            token,
            dial: handlers => dialWebSocket(url, handlers),
            onState: (state, text) => post("state", { state, text }),
            onHello: hello => this.#greet(hello),
            onPicture: () => {
                this.#countPicture();
                this.#paintSoon();
            },
            onTaken: ({ bytes, changed, decodeMs }) => {
                this.#came.bytes += bytes;
                this.#came.decodeMs += decodeMs;
                ++this.#came.messages;
                this.#changing += changed;
            },
            onAnswer: answer => post("answer", answer)
        });
        this.#session.open();
    }

    pause() {
        this.#session.pause();
    }

    resume() {
        this.#session.open();
    }

    close() {
        this.#session.close();
        close();
    }

    setView({ view }) {
        this.#view = view;
        this.#session.decoder?.keepMarks(view !== "picture");
        if (this.#session.decoder?.picture().length) this.#paint();
    }

    pixels() {
        const { decoder } = this.#session, { width, height, channels } = this.#held();
        const data = decoder.picture().slice();
        return [{ width, height, channels, data, version: decoder.state(0).version }, [data.buffer]];
    }

    async snapshot() {
        const hello = this.#held(), { width, height } = hello;
        const rgba = rgbaOf(this.#session.decoder.picture(), hello, { x: 0, y: 0, width, height });
        const canvas = new OffscreenCanvas(width, height);
        canvas.getContext("2d").putImageData(new ImageData(rgba, width, height), 0, 0);
        return [await canvas.convertToBlob({ type: "image/png" }), []];
    }

    #held() {
        if (!this.#session.decoder?.state(0).version) throw new Error("no picture has come yet");
        return this.#session.decoder.hello();
    }

    #greet(hello) {
        const { width, height, channels } = hello;
        const same = this.#hello && ["width", "height", "channels"].every(key => this.#hello[key] === hello[key]);
        if (!same) this.#painter.resize({ width, height, channels });
        this.#hello = hello;
        this.#frame = -1;
        this.#changing = 0;
        this.#session.decoder.keepMarks(this.#view !== "picture");
        post("hello", hello);
    }

    // A refinement is another state of the same frame. It counts neither as a frame nor as a change of the camera's
    // picture.
    #countPicture() {
        const { frame } = this.#session.decoder.state(0);
        if (frame !== this.#frame) {
            this.#frame = frame;
            ++this.#came.frames;
            this.#came.changed += this.#changing;
        }
        this.#changing = 0;
    }

    // Paints with the next animation frame, or after `longestWaitMs` on a hidden page.
    #paintSoon() {
        if (this.#waits.length) return;
        const paint = () => {
            cancelAnimationFrame(this.#waits[0]);
            clearTimeout(this.#waits[1]);
            this.#waits = [];
            this.#paint();
        };
        this.#waits = [requestAnimationFrame(paint), setTimeout(paint, longestWaitMs)];
    }

    // Paints what has changed, acknowledges it and reports statistics.
    #paint() {
        const { decoder } = this.#session;
        if (!decoder || !this.#hello) return;
        const { width, height } = this.#hello;
        this.#painter.paint(decoder.picture(), touchedAreas(decoder.touched(), width, height),
                            this.#view === "picture" ? null : decoder.marks(), this.#view);
        this.#session.painted();
        if (this.#came.messages === 0) return;
        post("frame", { ...decoder.state(performance.now() * 1000), objects: decoder.objects(), ...this.#came });
        this.#came = nothingCame();
    }
}

/** Counters since the last painting: messages with picture data, and the camera frames that they completed. */
function nothingCame() {
    return { bytes: 0, changed: 0, decodeMs: 0, messages: 0, frames: 0 };
}

/** Sends a message to the page. @param {string} kind */
function post(kind, detail, transfer = []) {
    postMessage({ kind, detail }, transfer);
}

/** @type {Promise<CameraWorker>} messages that arrive earlier wait for it */
let opened = null, isOpen = false;

// Fetches the module and retries: the network or the server may be unavailable at that moment.
async function fetchModuleAtLast() {
    for (const pauses = new Pauses();;) {
        try {
            return await fetchModule(new URL("viewer.wasm", import.meta.url));
        } catch (error) {
            if (error instanceof WebAssembly.CompileError) throw error;
            post("state", { state: "lost", text: error.message });
            await new Promise(resolve => setTimeout(resolve, pauses.next()));
        }
    }
}

async function open(values) {
    const module = await fetchModuleAtLast();
    isOpen = true;
    return new CameraWorker(values, module);
}

// Sends the result of a call to the page.
async function answer(call, asked) {
    try {
        const [value, transfer] = await asked;
        post("value", { call, value }, transfer);
    } catch (error) {
        post("value", { call, error: error.message });
    }
}

onmessage = ({ data: { order, call, ...values } }) => {
    if (order === "open") {
        opened = open(values);
        opened.catch(error => post("state", { state: "refused", text: error.message }));
        return;
    }
    // Without a server the module may never arrive, so closing does not wait for it.
    if (order === "close" && !isOpen) return close();
    const asked = opened.then(worker => worker[order](values));
    if (call !== undefined) answer(call, asked);
};

post("ready");

