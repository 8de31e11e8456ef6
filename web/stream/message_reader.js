const preambleBytes = 6, headerBytes = 5;

/** Splits the bytes of a connection into messages, independently of how the network split them. */
export class MessageReader {
    #decoder;
    #take;
    #stage = "preamble";
    #wanted = preambleBytes;
    #type = 0;
    #begunUs = 0;
    /** Bytes of an incomplete preamble, header or content. */
    #piece = null;
    #has = 0;

    /**
     * @param {import("./decoder.js").Decoder} decoder checks lengths before memory is allocated
     * @param {(type: number, content: Uint8Array, comingUs: number) => boolean} take receives each message and the time
     *     from its first to its last byte; returns false to stop reading
     */
    constructor(decoder, take) {
        this.#decoder = decoder;
        this.#take = take;
    }

    /**
     * Reads bytes that were received at `nowUs`.
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

    // Appends bytes to the incomplete piece.
    #keep(bytes) {
        if (bytes.length === 0) return;
        this.#piece ??= new Uint8Array(this.#wanted);
        this.#piece.set(bytes, this.#has);
        this.#has += bytes.length;
    }

    // Handles a complete piece. Returns false to stop reading.
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
