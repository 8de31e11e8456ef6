import assert from "node:assert/strict";
import { test } from "node:test";

import { Decoder } from "../decoder.js";
import { Figures } from "../figures.js";
import { drawMarks, rgbaOf } from "../pixels.js";
import { touchedAreas } from "../touched_areas.js";
import { hello, messageTypes, module, state, typeOf, vectors } from "./server_bytes.js";

test("areas cover the touched blocks and end at the picture's border", () => {
    const touched = Uint8Array.from([1, 1, 0, 0, 1, 1, 0, 0, 1]);
    assert.deepEqual(touchedAreas(touched, 150, 130), [
        { x: 0, y: 0, width: 128, height: 64 },
        { x: 64, y: 64, width: 86, height: 64 },
        { x: 128, y: 128, width: 22, height: 2 }
    ]);
    assert.deepEqual(touchedAreas(new Uint8Array(9), 150, 130), []);
});

test("B, G, R and gray become R, G, B", () => {
    const area = { x: 1, y: 0, width: 1, height: 2 };
    assert.deepEqual([...rgbaOf(Uint8Array.from([0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6]), { width: 2, channels: 3 }, area)],
                     [3, 2, 1, 255, 6, 5, 4, 255]);
    assert.deepEqual([...rgbaOf(Uint8Array.from([0, 7, 0, 8]), { width: 2, channels: 1 }, area)],
                     [7, 7, 7, 255, 8, 8, 8, 255]);
});

test("marks are red, or coloured by the size of the change", () => {
    const red = Uint8ClampedArray.from([9, 9, 9, 255, 9, 9, 9, 255]);
    drawMarks(red, Uint8Array.from([0, 1]), "changes");
    assert.deepEqual([...red], [9, 9, 9, 255, 255, 0, 0, 255]);
    const heat = new Uint8ClampedArray(12);
    drawMarks(heat, Uint8Array.from([0, 128, 255]), "heat");
    assert.deepEqual([...heat], [0, 0, 255, 0, 2, 255, 0, 0, 255, 0, 0, 0]);
});

test("touched blocks and marks match the changes of a delta frame", () => {
    for (const { name, shape, frames } of vectors()) {
        const decoder = new Decoder(module), { width, height, channels } = shape;
        decoder.take(messageTypes.hello, hello(shape), 0);
        decoder.keepMarks(true);
        let before = null;
        frames.forEach(({ packed }, index) => {
            if (index === 0 && typeOf(packed) !== messageTypes.picture) return;
            decoder.take(typeOf(packed), state(packed, { version: index + 1, threshold: 254 }), 0);
            const now = decoder.picture().slice(), marks = decoder.marks(), touched = decoder.touched();
            const columns = Math.ceil(width / 64);
            let changed = 0;
            for (let at = 0; before && typeOf(packed) === messageTypes.changes && at < width * height; ++at) {
                let most = 0;
                for (let channel = 0; channel < channels; ++channel) {
                    const off = Math.abs(now[at * channels + channel] - before[at * channels + channel]);
                    most = Math.max(most, off);
                    changed += off !== 0;
                }
                assert.equal(marks[at], most, `${name}, frame ${index}, pixel ${at}`);
                const block = (Math.floor(at / width) >> 6) * columns + (at % width >> 6);
                if (most) assert.equal(touched[block], 1);
            }
            if (before && typeOf(packed) === messageTypes.changes) assert.equal(decoder.lastChanged(), changed);
            decoder.painted();
            assert.ok(decoder.touched().every(is => is === 0));
            before = now;
        });
    }
});

test("statistics cover the last seconds", () => {
    const figures = new Figures();
    figures.greet({ width: 10, height: 10, channels: 3, threshold: 20, rate: 10 });
    const came = { latencyMs: 30, bytes: 100, decodeMs: 4, messages: 2, threshold: 7, dropped: 1 };
    for (let ms = 0; ms <= 1000; ms += 100) {
        figures.take({ ...came, changed: 60, frames: 2 }, ms);
        figures.take({ ...came, changed: 0, frames: 0 }, ms);  // a refinement: bytes received, but no frame
    }
    assert.deepEqual(figures.at(1000), {
        fps: 10, latencyMs: 30, bitsPerSecond: 16800, rawBitsPerSecond: 24000, changedShare: 0.1, threshold: 7, dropped: 1,
        decodeMs: 2, connections: 1
    });
    const later = figures.at(60_000);
    assert.deepEqual([later.fps, later.bitsPerSecond, later.latencyMs], [0, 0, null]);
});
