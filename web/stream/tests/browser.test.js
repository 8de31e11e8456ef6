// Tests the stream in Debian's Chromium: the painted picture must equal the decoded one, with WebGL and without.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

import { folderOf, serve } from "./programs.js";

const patience = { timeout: 180_000 };
const flags = ["--no-sandbox", "--no-first-run", "--disable-quic", "--disable-background-networking", "--disable-sync"];
const ways = { WebGL: [], "without WebGL": ["--disable-gpu", "--disable-software-rasterizer"] };
const browsers = {};

before(async () => {
    for (const [way, more] of Object.entries(ways))
        browsers[way] = await chromium.launch(
            { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: [...flags, ...more] });
});
after(() => Promise.all(Object.values(browsers).map(browser => browser.close())));

/** Opens an empty document of the server with one stream per name, `window.streams`, and the events they sent. */
async function open(context, browser, port, ...names) {
    const page = await browser.newPage();
    context.after(() => page.close());
    await page.goto(`http://127.0.0.1:${port}/healthz`);
    await page.evaluate(async names => {
        const { CameraStream } = await import("/stream/camera_stream.js");
        window.streams = names.map(name => {
            const canvas = document.body.appendChild(document.createElement("canvas"));
            const stream = new CameraStream({ url: `ws://${location.host}/${name}/stream`, name, canvas, webGl: "any" });
            Object.assign(stream, { canvas, states: [], seen: [] });
            stream.addEventListener("state", ({ detail }) => stream.states.push(detail));
            stream.addEventListener("frame", ({ detail }) => stream.seen.push(detail));
            return stream;
        });
        /** Returns the pixels of a stream's canvas as R, G, B, A. */
        window.painted = ({ canvas }) => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
            copy.drawImage(canvas, 0, 0);
            return copy.getImageData(0, 0, canvas.width, canvas.height).data;
        };
        window.counted = stream => {
            const rgba = painted(stream), found = { red: 0, blue: 0 };
            for (let at = 0; at < rgba.length; at += 4) {
                const [red, green, blue] = rgba.subarray(at, at + 3);
                found.red += red === 255 && green === 0 && blue === 0;
                found.blue += red === 0 && green === 0 && blue === 255;
            }
            return found;
        };
        window.turned = (data, channels) => {
            const rgba = new Uint8ClampedArray(data.length / channels * 4).fill(255);
            for (let i = 0; i < data.length / channels; ++i)
                for (let c = 0; c < 3; ++c) rgba[4 * i + c] = data[i * channels + (channels === 1 ? 0 : 2 - c)];
            return rgba;
        };
        window.sameBytes = (a, b) => a.length === b.length && a.every((byte, index) => byte === b[index]);
    }, names);
    return page;
}

const betweenLooksMs = 50;

/** Evaluates a condition until it is true. waitForFunction() would take the returned promise itself for true. */
async function until(page, isSo) {
    for (const end = Date.now() + 60_000; !await page.evaluate(isSo);) {
        if (Date.now() > end) throw new Error(`waited in vain for ${isSo}`);
        await new Promise(resolve => setTimeout(resolve, betweenLooksMs));
    }
}

const ended = page => until(page, () => streams.every(({ states }) => states.at(-1)?.state === "ended"));

for (const way of Object.keys(ways)) {
    test(`the painted picture equals the decoded one: ${way}`, patience, async context => {
        const gray = join(folderOf(context), "clip.gray");
        writeFileSync(gray, Buffer.from(Array.from({ length: 20 * 130 * 70 }, (_, index) => index * index >> 9 & 255)));
        const { port } = await serve(context, "-i", "door=synth:size=333x211:frames=40", "-i",
                                     `yard=raw:${gray}:size=130x70:fps=30`, "--wait", "1");
        const page = await open(context, browsers[way], port, "door", "yard");
        const hasWebGl = await page.evaluate(() => new OffscreenCanvas(1, 1).getContext("webgl2") !== null);
        assert.equal(hasWebGl, way === "WebGL");
        await ended(page);
        // A committed canvas appears on the screen slightly later.
        await until(page, async () => {
            for (const stream of streams) {
                const { data, channels } = await stream.pixels();
                if (!sameBytes(painted(stream), turned(data, channels))) return false;
            }
            return true;
        });
        const reported = await page.evaluate(() => streams.map(({ seen }) => seen.at(-1).version));
        const held = await page.evaluate(async () => Promise.all(streams.map(stream => stream.pixels())));
        assert.deepEqual(held.map(({ width, height, channels }) => [width, height, channels]), [[333, 211, 3], [130, 70, 1]]);
        assert.deepEqual(reported, held.map(({ version }) => version));
    });

    test(`views show the changes: ${way}`, patience, async context => {
        const source = "synth:size=200x150:noise=0:objects=3:frames=60";
        const { port } = await serve(context, "-i", source, "--refine", "0", "--wait", "1");
        const page = await open(context, browsers[way], port, "main");
        await page.evaluate(() => streams[0].setView("changes"));
        await ended(page);
        const count = () => page.evaluate(() => counted(streams[0]));
        // A new view, and the changes of the last frame, appear on the screen slightly later. Only the heat view shows
        // unchanged pixels in blue.
        let red = 0, blue = 0;
        for (const end = Date.now() + 60_000; Date.now() < end && (red === 0 || red + blue !== 200 * 150);) {
            await page.evaluate(() => streams[0].setView("changes"));
            await until(page, () => counted(streams[0]).blue === 0 && counted(streams[0]).red > 0);
            ({ red } = await count());
            await page.evaluate(() => streams[0].setView("heat"));
            await until(page, () => counted(streams[0]).blue > 0);
            ({ blue } = await count());
        }
        assert.ok(red > 0 && red < 200 * 150 / 2, `${red} red pixels`);
        assert.equal(blue, 200 * 150 - red);
        await page.evaluate(() => streams[0].setView("picture"));
        await until(page, async () => {
            const { data, channels } = await streams[0].pixels();
            return sameBytes(painted(streams[0]), turned(data, channels));
        });
    });
}

test("snapshots have the decoded bytes, a pause stops, and statistics are reported", patience, async context => {
    const { port } = await serve(context, "-i", "synth:size=128x96");
    const page = await open(context, browsers.WebGL, port, "main");
    await until(page, () => streams[0].seen.length > 20 && streams[0].figures().latencyMs !== null);
    const figures = await page.evaluate(() => streams[0].figures());
    assert.ok(figures.fps > 0 && figures.bitsPerSecond > 0 && figures.rawBitsPerSecond > figures.bitsPerSecond);
    assert.equal(figures.threshold, 20);
    await page.evaluate(() => streams[0].pause());
    await until(page, () => streams[0].states.at(-1).state === "paused");
    assert.ok(await page.evaluate(async () => {
        const [blob, { data, channels }] = [await streams[0].snapshot(), await streams[0].pixels()];
        const canvas = new OffscreenCanvas(128, 96).getContext("2d");
        canvas.drawImage(await createImageBitmap(blob), 0, 0);
        return blob.type === "image/png" && sameBytes(canvas.getImageData(0, 0, 128, 96).data, turned(data, channels));
    }));
    await page.evaluate(() => {
        streams[0].seen = [];
        streams[0].resume();
    });
    await until(page, () => streams[0].seen.length > 5);
});

test("reconnects to a restarted server and shows its picture", patience, async context => {
    const { port, kill } = await serve(context, "-i", "synth:size=128x96");
    const page = await open(context, browsers.WebGL, port, "main");
    await until(page, () => streams[0].seen.length > 5);
    kill();
    await until(page, () => streams[0].states.filter(({ state }) => state === "lost").length > 2);
    await serve(context, "--listen", `127.0.0.1:${port}`, "-i", "synth:size=64x48");
    await until(page, () => streams[0].pixels().then(({ width }) => width === 64, () => false));
    const states = await page.evaluate(() => streams[0].states);
    assert.equal(states.at(-1).state, "live", JSON.stringify(states.slice(-4)));
});
