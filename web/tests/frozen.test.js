// Tests that the page shows one frame of the source at a time while the browser's renderer is suspended and resumed, and
// its line is slow.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { folderOf, run, serve } from "../stream/tests/programs.js";
import { openPage, startBrowser } from "./kit/browser.js";
import { paintedPicture, untilLive } from "./kit/shown.js";
import { slowLine } from "./kit/slow_line.js";

const [WIDTH, HEIGHT, FRAMES] = [320, 192, 40];
const ROUNDS = process.env.FRAMEWIRE_NETWORK_LONG ? 15 : 3;

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Returns the processes of pages and their workers. @returns {Promise<number[]>} */
async function renderers() {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    await session.detach();
    return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
}

/**
 * Returns the numbers of the frames from which no byte of the R, G, B, A picture differs by more than the threshold.
 */
function framesOf(painted, all, threshold) {
    const size = WIDTH * HEIGHT * 3;
    const isFrame = (number) => {
        for (let at = number * size, pixel = 0; pixel < painted.length; at += 3, pixel += 4)
            for (let channel = 0; channel < 3; ++channel)
                if (Math.abs(painted[pixel + channel] - all[at + 2 - channel]) > threshold) return false;
        return true;
    };
    return [...Array(FRAMES).keys()].filter(isFrame);
}

for (const [mode, threshold, bytesPerSecond] of [["exact", 12, 400_000], ["lossless", 0, 600_000]])
    test(`shows one frame at a time when suspended and resumed: ${mode}`, async (t) => {
        const raw = join(folderOf(t), "source.bgr");
        const scene = `synth:size=${WIDTH}x${HEIGHT}:fps=30:noise=${threshold + 8}:objects=5:seed=3:frames=${FRAMES}`;
        assert.equal(await run(t, "run", "-i", scene, "-o", raw), 0);
        const all = readFileSync(raw);
        const source = `raw:${raw}:size=${WIDTH}x${HEIGHT}:format=bgr:fps=10`;
        const server = await serve(t, "-i", source, "--loop", "--mode", mode, "--threshold", `${threshold}`);
        const line = await slowLine(t, server.port);
        const { page, close } = await openPage(browser, `http://127.0.0.1:${line.port}/`);
        t.after(close);
        await untilLive(page);
        Object.assign(line, { bytesPerSecond, restMs: 300 });
        const seen = new Set(), stopped = await renderers();
        assert.ok(stopped.length > 0);
        for (let round = 0; round < ROUNDS; ++round) {
            for (const id of stopped) process.kill(id, "SIGSTOP");
            await wait(700);
            for (const id of stopped) process.kill(id, "SIGCONT");
            for (let look = 0; look < 3; ++look) {
                const frames = framesOf(await paintedPicture(page), all, threshold);
                assert.ok(frames.length > 0, `round ${round}, look ${look}: parts of several frames`);
                seen.add(frames[0]);
            }
        }
        assert.ok(seen.size > 2, `${seen.size} different frames: the picture stands still`);
    });
