// Tests invalid input: every case must give a StreamError or some picture, never a hang, and never an access outside the
// module's memory, which the runtime checks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Decoder, StreamError } from "../decoder.js";
import { MessageReader } from "../message_reader.js";
import { blackPicture, hello, message, messageTypes, module, preamble, state, typeOf, vectors } from "./server_bytes.js";

/** Returns a generator with the same numbers in each run. */
function numbersFrom(seed) {
    return below => {
        seed = Math.imul(seed ^ seed >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
        return (seed >>> 0) % below;
    };
}

/** The frames of each vector as a server would send them. */
const streams = vectors().map(({ shape, frames }) => ({
    shape,
    messages: [
        message(messageTypes.hello, hello(shape)),
        message(messageTypes.picture, state(blackPicture(shape), { version: 1 })),
        ...frames.map(({ packed }, index) => message(typeOf(packed), state(packed, { version: index + 2, threshold: 254 })))
    ]
}));

/** Decodes a stream. Returns true if it was refused with an error. */
function isRefused(bytes) {
    const decoder = new Decoder(module);
    const reader = new MessageReader(decoder, (type, content) => {
        decoder.take(type, content, 0);
        return true;
    });
    try {
        reader.read(bytes, 0);
        return false;
    } catch (error) {
        // An access outside the module's memory traps with a RuntimeError, which would be a bug.
        assert.ok(error instanceof StreamError, `${error.stack}`);
        return true;
    }
}

function spoiled(messages, spoil) {
    return Buffer.concat([preamble(), ...messages.slice(0, 2), ...messages.slice(2).map(spoil)]);
}

test("accepts unmodified streams", () => {
    for (const { messages } of streams) assert.equal(isRefused(spoiled(messages, bytes => bytes)), false);
});

test("flipped bits", () => {
    const below = numbersFrom(1);
    let refused = 0, tried = 0;
    for (const { messages } of streams)
        for (let round = 0; round < 150; ++round, ++tried)
            refused += isRefused(spoiled(messages, bytes => {
                const flipped = Buffer.from(bytes);
                for (let count = 1 + below(4); count > 0; --count) flipped[below(flipped.length)] ^= 1 << below(8);
                return flipped;
            }));
    assert.ok(refused > tried / 2, `${refused} of ${tried}`);
});

test("truncated packed bytes", () => {
    for (const { messages } of streams)
        for (let round = 0; round < 40; ++round)
            assert.ok(isRefused(spoiled(messages, (bytes, index) => {
                if (index > 0) return bytes;
                const packed = bytes.subarray(5 + 36);
                const kept = packed.subarray(0, Math.floor(packed.length * round / 40));
                return message(bytes[0], Buffer.concat([bytes.subarray(5, 5 + 36), kept]));
            })));
});

test("random bytes instead of blocks", () => {
    const below = numbersFrom(2);
    for (const { shape, messages } of streams)
        for (let round = 0; round < 100; ++round)
            isRefused(spoiled(messages, () => {
                const packed = Buffer.from(Array.from({ length: below(400) }, () => below(256)));
                if (packed.length) packed[0] = below(5);
                return message(packed.length ? typeOf(packed) : messageTypes.changes, state(packed, { version: 2 }));
            }));
});

test("random messages", () => {
    const below = numbersFrom(3);
    for (let round = 0; round < 1000; ++round) {
        const pieces = [preamble(), message(messageTypes.hello, hello({ width: 64, height: 64, channels: 3 }))];
        for (let count = below(6); count > 0; --count)
            pieces.push(message(below(12), Buffer.from(Array.from({ length: below(90) }, () => below(256)))));
        isRefused(Buffer.concat(pieces));
    }
});

test("hellos of impossible streams and of pictures that are too large", () => {
    for (const wrong of [
             { width: 0 }, { height: 0 }, { width: 20000 }, { channels: 2 }, { threshold: 255 }, { epoch: 0n },
             { width: 16384, height: 16384 }
         ]) {
        const shape = { width: 8, height: 8, channels: 3, ...wrong };
        assert.ok(isRefused(Buffer.concat([preamble(), message(messageTypes.hello, hello(shape))])), `${wrong}`);
    }
});

test("objects outside the picture", () => {
    const shape = { width: 8, height: 8, channels: 1 }, good = { id: 1, x: 0, y: 0, width: 8, height: 8, area: 64 };
    const tried = [[{}, false], [{ x: 1 }, true], [{ height: 9 }, true], [{ id: 0 }, true], [{ area: 65 }, true]];
    for (const [wrong, refused] of tried) {
        const content = state(blackPicture(shape), { version: 1, objects: [{ ...good, ...wrong }] });
        assert.equal(isRefused(Buffer.concat([
            preamble(), message(messageTypes.hello, hello(shape)), message(messageTypes.picture, content)
        ])), refused);
    }
});
