const preambleBytes = 6, headerBytes = 5;

/** Cuts what comes over a connection into messages, however it was cut on its way. */
export class MessageReader {
    #decoder;
    #take;
    #stage = "preamble";
    #wanted = preambleBytes;
    #type = 0;
    #begunUs = 0;
    /** What has come of a piece that is not whole. */
    #piece = null;
    #has = 0;

    /**
     * @param {import("./decoder.js").Decoder} decoder checks lengths before there is room for them
     * @param {(type: number, content: Uint8Array, comingUs: number) => boolean} take is given each message, with the
     *     time from its first byte to its last; false: nothing is to be read any more
     */
    constructor(decoder, take) {
        this.#decoder = decoder;
        this.#take = take;
    }

    /**
     * @param {Uint8Array} bytes
     * @param {number} nowUs
     */
    read(bytes, nowUs) {
        for (;;) {
            if (this.#stage !== "content" && this.#has === 0) this.#begunUs = nowUs;
            const missing = this.#wanted - this.#has;
            if (bytes.length < missing) return this.#keep(bytes);
            const came = bytes.subarray(0, missing);
            bytes = bytes.subarray(missing);
            if (!this.#readPiece(this.#piece ? (this.#keep(came), this.#piece) : came, nowUs)) return;
        }
    }

    #keep(bytes) {
        if (bytes.length === 0) return;
        this.#piece ??= new Uint8Array(this.#wanted);
        this.#piece.set(bytes, this.#has);
        this.#has += bytes.length;
    }

    // False when nothing is to be read any more.
    #readPiece(piece, nowUs) {
        this.#piece = null;
        this.#has = 0;
        if (this.#stage === "preamble") {
            this.#decoder.readPreamble(piece);
            this.#expect("header", headerBytes);
        } else if (this.#stage === "header") {
            this.#type = piece[0];
            this.#expect("content", this.#decoder.contentBytes(piece));
        } else {
            this.#expect("header", headerBytes);
            return this.#take(this.#type, piece, nowUs - this.#begunUs);
        }
        return true;
    }

    #expect(stage, bytes) {
        this.#stage = stage;
        this.#wanted = bytes;
    }
}
