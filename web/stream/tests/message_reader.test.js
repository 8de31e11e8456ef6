import assert from "node:assert/strict";
import { test } from "node:test";

import { Decoder, StreamError } from "../decoder.js";
import { MessageReader } from "../message_reader.js";
import { blackPicture, hello, message, messageTypes, module, preamble, state } from "./server_bytes.js";

const shape = { width: 3, height: 2, channels: 3 };
const sent = [
    [messageTypes.hello, hello(shape)], [messageTypes.picture, state(blackPicture(shape), { version: 1 })],
    [messageTypes.alive, Buffer.alloc(0)], [messageTypes.end, Buffer.alloc(0)]
];
const bytes = Buffer.concat([preamble(), ...sent.map(([type, content]) => message(type, content))]);

function readIn(pieces) {
    const decoder = new Decoder(module), taken = [];
    const reader = new MessageReader(decoder, (type, content, comingUs) => {
        taken.push({ type, content: Buffer.from(content), comingUs });
        decoder.take(type, content, 0);
        return true;
    });
    pieces.forEach((piece, index) => reader.read(piece, index));
    return taken;
}

test("messages do not depend on how bytes are split", () => {
    for (let size = 1; size <= bytes.length; ++size) {
        const pieces = [];
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        assert.deepEqual(readIn(pieces).map(({ type, content }) => [type, content]), sent);
    }
});

test("reports how long a message took to arrive", () => {
    const picture = 6 + 5 + 25;
    const pieces = [bytes.subarray(0, picture + 1), bytes.subarray(picture + 1, picture + 20), bytes.subarray(picture + 20)];
    assert.deepEqual(readIn(pieces).map(({ comingUs }) => comingUs), [0, 2, 0, 0]);
});

test("stops reading when the receiver asks for it", () => {
    let count = 0;
    const reader = new MessageReader(new Decoder(module), () => ++count < 1);
    reader.read(Buffer.concat([preamble(), message(messageTypes.end), message(messageTypes.end)]), 0);
    assert.equal(count, 1);
});

test("impossible lengths are refused before memory is allocated", () => {
    const decoder = new Decoder(module), reader = new MessageReader(decoder, (type, content) => {
        decoder.take(type, content, 0);
        return true;
    });
    reader.read(Buffer.concat([preamble(), message(messageTypes.hello, hello(shape))]), 0);
    assert.throws(() => reader.read(Buffer.from([messageTypes.changes, 0xff, 0xff, 0xff, 0x7f]), 0), StreamError);
});

test("refuses other protocols and other versions", () => {
    for (const front of ["HTTP/1", "FWIR\x06\x00"])
        assert.throws(() => new MessageReader(new Decoder(module), () => true).read(Buffer.from(front, "latin1"), 0),
                      StreamError);
});
