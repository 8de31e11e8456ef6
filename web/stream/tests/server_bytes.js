// Messages of a server, constructed for tests.

import { readFileSync, readdirSync } from "node:fs";

const root = new URL("../../../", import.meta.url);
const vectorsFolder = new URL("src/framewire/codec/vectors/", root);

/** The module under test: FRAMEWIRE_WASM, or the one in build/dev. */
export const module = new WebAssembly.Module(
    readFileSync(process.env.FRAMEWIRE_WASM ?? new URL("build/dev/web/stream/wasm/viewer.wasm", root)));

export const messageTypes = { hello: 1, picture: 2, changes: 3, alive: 4, end: 5, error: 6, clock: 8, answer: 10 };

export function preamble() {
    return Buffer.from([...Buffer.from("FWIR"), 4, 0]);
}

export function message(type, content = Buffer.alloc(0)) {
    const header = Buffer.alloc(5);
    header.writeUInt8(type, 0);
    header.writeUInt32LE(content.length, 1);
    return Buffer.concat([header, content]);
}

export function hello({ epoch = 1n, width, height, channels, threshold = 254 }) {
    const content = Buffer.alloc(25);
    content.writeBigUInt64LE(epoch, 0);
    content.writeUInt16LE(width, 9);
    content.writeUInt16LE(height, 11);
    content.writeUInt8(channels, 13);
    content.writeUInt8(threshold, 15);
    content.writeUInt32LE(30, 16);
    content.writeUInt32LE(1, 20);
    return content;
}

export function state(packed, { version, threshold = 0, partial = false, objects = [] }) {
    const front = Buffer.alloc(36 + 16 * objects.length);
    front.writeBigUInt64LE(BigInt(version), 0);
    front.writeBigUInt64LE(BigInt(version), 8);
    front.writeDoubleLE(version / 30, 16);
    front.writeUInt8(threshold, 32);
    front.writeUInt8(Number(partial), 33);
    front.writeUInt16LE(objects.length, 34);
    objects.forEach(({ id, x, y, width, height, area }, index) => {
        const at = 36 + 16 * index;
        front.writeUInt32LE(id, at);
        [x, y, width, height].forEach((value, place) => front.writeUInt16LE(value, at + 4 + 2 * place));
        front.writeUInt32LE(area, at + 12);
    });
    return Buffer.concat([front, packed]);
}

/** Returns a packed black picture, with blocks in the form "plain" of format.md. */
export function blackPicture({ width, height, channels }) {
    const blocks = [], directory = [];
    for (let y = 0; y < height; y += 64)
        for (let x = 0; x < width; x += 64) {
            const bytes = Math.min(64, width - x) * Math.min(64, height - y) * channels;
            const block = Buffer.alloc(4 + bytes + bytes % 2);
            block.writeUInt32LE(2, 0);
            blocks.push(block);
            let size = block.length;
            for (; size >= 0x80; size >>= 7) directory.push(size & 0x7f | 0x80);
            directory.push(size);
        }
    return Buffer.concat([Buffer.from([1, 0, ...directory]), ...blocks]);
}

/** Returns a packed frame with one block of 64x64 gray pixels of one value, for a picture of `count` blocks. */
export function grayBlock(number, count, value) {
    const block = Buffer.alloc(4 + 64 * 64, value), rest = count - number - 1;
    block.writeUInt32LE(2, 0);
    const varint = value => value < 0x80 ? [value] : [value & 0x7f | 0x80, ...varint(value >> 7)];
    const passOver = blocks => blocks > 0 ? varint(2 * blocks - 1) : [];
    return Buffer.concat([Buffer.from([4, 0, ...passOver(number), ...varint(block.length), ...passOver(rest)]), block]);
}

/** Returns the type of the message for packed bytes. */
export function typeOf(packed) {
    return packed[0] === 1 || packed[0] === 3 ? messageTypes.picture : messageTypes.changes;
}

/** 64-bit FNV-1a, the hash of the vectors. */
export function hashOf(bytes) {
    // In two halves, because numbers are exact up to 53 bits.
    let low = 0x84222325, high = 0xcbf29ce4;
    for (const byte of bytes) {
        low = (low ^ byte) >>> 0;
        const product = low * 0x1b3;
        high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
        low = product >>> 0;
    }
    return BigInt(high) << 32n | BigInt(low);
}

/**
 * Reads the committed streams of the codec.
 * @returns {{name: string, shape: {width: number, height: number, channels: number}, frames: {packed: Buffer, hash:
 *     bigint}[]}[]}
 */
export function vectors() {
    const folders = readdirSync(vectorsFolder, { withFileTypes: true }).filter(entry => entry.isDirectory());
    const names = folders.flatMap(({ name: folder }) =>
        readdirSync(new URL(folder, vectorsFolder)).filter(name => name.endsWith(".stream")).map(name => `${folder}/${name}`));
    return names.sort().map(name => {
        const bytes = readFileSync(new URL(name, vectorsFolder)), line = bytes.indexOf("\n");
        const [width, height, channels, count] = bytes.toString("latin1", 0, line).split(" ").map(Number);
        let at = line + 1;
        const frames = Array.from({ length: count }, () => {
            const size = bytes.readUInt32LE(at), packed = bytes.subarray(at + 4, at + 4 + size);
            at += 4 + size + 8;
            return { packed, hash: bytes.readBigUInt64LE(at - 8) };
        });
        return { name, shape: { width, height, channels }, frames };
    });
}
