import { Decoder, StreamError, Taken } from "./decoder.js";
import { MessageReader } from "./message_reader.js";
import { Pauses } from "./pauses.js";

const helloMs = 5000;  // longest time from the connection to the server's hello
const silenceMs = 5000;  // longest time without a byte; servers send something each second

/** Refusals (Refusal in net/wire) that another attempt would receive again: bad_request and not_allowed. */
const finalRefusals = new Set([3, 5]);

/**
 * @typedef {"connecting"|"live"|"paused"|"lost"|"ended"|"refused"} StreamState
 * @typedef {{opened: () => void, received: (bytes: Uint8Array) => void, closed: (why: string) => void}} Handlers
 * @typedef {{send: (bytes: Uint8Array) => void, close: () => void}} Connection
 */

/**
 * The protocol of one stream, over connections that the caller provides. It reconnects after each loss and continues
 * from the block versions held. It does no painting.
 */
export class Session {
    #options;
    #decoder = null;
    /** @type {Connection|null} */
    #connection = null;
    #deadline = 0;
    #pause = 0;
    #pauses = new Pauses();
    #state = "";
    // State of the current connection:
    #taken = 0;
    #reported = 0;
    #unpainted = false;
    #cameUs = 0;
    #comingUs = 0;

    /**
     * @param {{module: WebAssembly.Module, name: string, token: string, dial: (handlers: Handlers) => Connection,
     *     onState: (state: StreamState, text: string) => void, onHello: (hello: import("./decoder.js").Hello) => void,
     *     onPicture: () => void, onTaken: (taken: {bytes: number, changed: number, decodeMs: number}) => void,
     *     onAnswer: (answer: {done: boolean, text: string}) => void}} options onPicture: the picture has to be painted,
     *     followed by a call of painted(); onTaken: called for each keyframe and delta frame, painted or not
     */
    constructor(options) {
        this.#options = options;
    }

    /** The decoder, or null before the first connection. @returns {Decoder|null} */
    get decoder() {
        return this.#decoder;
    }

    /** Connects, or reconnects if it was connected. Continues from the block versions held. */
    open() {
        this.#hangUp();
        this.#pauses.reset();
        this.#connect();
    }

    /** Disconnects and keeps the block versions held. */
    pause() {
        this.#hangUp();
        this.#tell("paused", "");
    }

    /** Disconnects and releases the decoder. */
    close() {
        this.#hangUp();
        this.#decoder = null;
    }

    /** Acknowledges everything received so far. Call it after painting. */
    painted() {
        this.#decoder?.painted();
        this.#unpainted = false;
        this.#acknowledge();
    }

    #acknowledge() {
        if (!this.#connection || this.#reported === this.#taken) return;
        this.#reported = this.#taken;
        const clockUs = nowUs();
        this.#connection.send(this.#decoder.drawn({
            messages: this.#taken,
            version: this.#decoder.state(clockUs).version,
            clockUs,
            heldUs: clockUs - this.#cameUs,
            comingUs: this.#comingUs
        }));
    }

    #connect() {
        this.#tell("connecting", "");
        this.#decoder ??= new Decoder(this.#options.module);
        this.#taken = this.#reported = 0;
        this.#unpainted = false;
        const reader = new MessageReader(this.#decoder, (...message) => this.#take(...message));
        // Handlers of an abandoned connection are ignored.
        let connection = null;
        const heard = handler => (...values) => {
            if (connection && connection === this.#connection) this.#guard(() => handler(...values));
        };
        this.#wait(helloMs, "the server does not answer");
        connection = this.#connection = this.#options.dial({
            opened: heard(() => connection.send(this.#decoder.greet(this.#options.name, this.#options.token))),
            received: heard(bytes => {
                if (this.#state !== "connecting") this.#wait(silenceMs, "the server is silent");
                reader.read(bytes, nowUs());
            }),
            closed: heard(why => this.#lose(why))
        });
    }

    // A protocol violation ends the connection. The decoder cannot be used after it.
    #guard(body) {
        try {
            body();
        } catch (error) {
            if (!(error instanceof StreamError) && !(error instanceof WebAssembly.RuntimeError)) throw error;
            this.#decoder = null;
            this.#lose(error instanceof StreamError ? error.message : `broken stream: ${error.message}`);
        }
    }

    // Applies one message and reports its result. Returns false to stop reading.
    #take(type, content, comingUs) {
        const decoder = this.#decoder;
        const begin = performance.now();
        const taken = decoder.take(type, content, nowUs());
        if (Decoder.carriesState(type)) {
            ++this.#taken;
            this.#cameUs = nowUs();
            this.#comingUs = comingUs;
            this.#options.onTaken({
                bytes: content.length, changed: decoder.lastChanged(), decodeMs: performance.now() - begin
            });
        }
        switch (taken) {
            case Taken.hello:
                this.#wait(silenceMs, "the server is silent");
                this.#tell("live", "");
                this.#options.onHello(decoder.hello());
                break;
            case Taken.picture:
                this.#pauses.reset();
                this.#unpainted = true;
                this.#options.onPicture();
                break;
            case Taken.nothing:
                // Part of a state: nothing to paint, but the server waits for the acknowledgement before it sends the
                // rest.
                if (Decoder.carriesState(type) && !this.#unpainted) this.#acknowledge();
                break;
            case Taken.answer: {
                const { reason, text } = decoder.said();
                this.#options.onAnswer({ done: reason === 1, text });
                break;
            }
            case Taken.ended:
                this.#hangUp();
                this.#tell("ended", "");
                break;
            case Taken.refused: {
                const { reason, text } = decoder.said();
                if (!finalRefusals.has(reason)) this.#lose(`the server says: ${text}`);
                else this.#hangUp(), this.#tell("refused", text);
                break;
            }
        }
        return this.#connection !== null;
    }

    // Disconnects and schedules the next attempt.
    #lose(why) {
        this.#hangUp();
        this.#tell("lost", why);
        this.#pause = setTimeout(() => this.#connect(), this.#pauses.next());
    }

    // Sets the deadline for the next bytes.
    #wait(ms, whenLate) {
        clearTimeout(this.#deadline);
        this.#deadline = setTimeout(() => this.#lose(whenLate), ms);
    }

    // Ends the connection, its deadline and any scheduled attempt.
    #hangUp() {
        clearTimeout(this.#deadline);
        clearTimeout(this.#pause);
        const connection = this.#connection;
        this.#connection = null;
        connection?.close();
    }

    // Reports a state unless it is the current one. Each loss is reported.
    #tell(state, text) {
        if (state === this.#state && state !== "lost") return;
        this.#state = state;
        this.#options.onState(state, text);
    }
}

/** Returns the viewer's clock in microseconds. */
function nowUs() {
    return Math.round(performance.now() * 1000);
}
