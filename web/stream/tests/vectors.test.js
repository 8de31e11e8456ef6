import assert from "node:assert/strict";
import { test } from "node:test";

import { Decoder, Taken } from "../decoder.js";
import { blackPicture, grayBlock, hashOf, hello, messageTypes, module, state, typeOf, vectors } from "./server_bytes.js";

for (const { name, shape, frames } of vectors())
    test(`${name} decodes to the expected pictures`, () => {
        const decoder = new Decoder(module);
        assert.equal(decoder.take(messageTypes.hello, hello(shape), 0), Taken.hello);
        const black = state(blackPicture(shape), { version: 1 });
        assert.equal(decoder.take(messageTypes.picture, black, 0), Taken.picture);
        frames.forEach(({ packed, hash }, index) => {
            const content = state(packed, { version: index + 2, threshold: 254 });
            assert.equal(decoder.take(typeOf(packed), content, 0), Taken.picture);
            assert.equal(hashOf(decoder.picture()), hash, `frame ${index}`);
        });
    });

test("independently coded blocks give the same picture as their keyframe", () => {
    const pictures = vectors().flatMap(({ shape, frames }) => frames.filter(({ packed }) => packed[0] === 1)
                                                                .map(frame => ({ shape, ...frame })));
    assert.ok(pictures.length > 0);
    for (const { shape, packed, hash } of pictures) {
        const blocks = Buffer.from(packed);
        blocks[0] = 4;
        const decoder = new Decoder(module);
        decoder.take(messageTypes.hello, hello(shape), 0);
        assert.equal(decoder.take(messageTypes.changes, state(blocks, { version: 7 }), 0), Taken.picture);
        assert.equal(hashOf(decoder.picture()), hash);
    }
});

test("a state in several messages is shown when it is complete", () => {
    const shape = { width: 64, height: 128, channels: 1 }, decoder = new Decoder(module);
    decoder.take(messageTypes.hello, hello(shape), 0);
    const [top, bottom] = [100, 200].map((value, number) => grayBlock(number, 2, value));
    const pixels = () => [decoder.picture()[0], decoder.picture()[64 * 64]];
    const take = (block, rest) => decoder.take(messageTypes.changes, state(block, rest), 0);
    assert.equal(take(top, { version: 3, partial: true }), Taken.nothing);
    assert.equal(decoder.picture().length, 0, "of the first state nothing is seen");
    assert.equal(take(bottom, { version: 3 }), Taken.picture);
    assert.deepEqual(pixels(), [100, 200]);
    assert.deepEqual([...decoder.touched()], [1, 1]);
    decoder.painted();
    assert.equal(take(grayBlock(0, 2, 7), { version: 4, partial: true, objects: [] }), Taken.nothing);
    assert.deepEqual(pixels(), [100, 200]);
    assert.equal(decoder.state(0).version, 3);
    assert.deepEqual([...decoder.touched()], [0, 0]);
    decoder.painted();
    assert.equal(take(grayBlock(1, 2, 8), { version: 4 }), Taken.picture);
    assert.deepEqual(pixels(), [7, 8]);
    assert.deepEqual([...decoder.touched()], [1, 1]);
    assert.equal(decoder.state(0).version, 4);
});

test("there are vectors of every kind", () => {
    const kinds = new Set(vectors().flatMap(({ frames }) => frames.map(({ packed }) => packed[0])));
    assert.deepEqual([...kinds].sort(), [0, 1, 2, 3]);
});
