// Standard video of `serve --video` in Chromium: as a tab of its own, in <video>, and through Media Source Extensions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { serve } from "../stream/tests/programs.js";
import { openPage, startBrowser } from "./kit/browser.js";
import { until } from "./kit/shown.js";

const [WIDTH, HEIGHT] = [640, 360];
// With noise, because Chromium reads a stream in blocks of 32 KiB, which take long to fill with a picture that rests.
const SOURCE = `door=lavfi:smptebars=size=${WIDTH}x${HEIGHT}:rate=30,noise=alls=12:allf=t`;
const MOST_DIFFERENCE = 6;

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

async function start(t, ...args) {
    const { port } = await serve(t, "-i", SOURCE, "--video", ...args);
    const address = `http://127.0.0.1:${port}`;
    await until("a first frame", async () => (await fetch(`${address}/readyz`)).status === 200);
    return address;
}

/** Returns the state of the page's video, or null. */
function videoOf(page) {
    return page.evaluate(() => {
        const video = document.querySelector("video");
        return video && { width: video.videoWidth, height: video.videoHeight, time: video.currentTime, error: video.error?.message };
    });
}

/**
 * Waits until the video plays, and compares it with the picture that viewers see: the mean colours of the chart's bars.
 * The page has an <img> with that picture.
 */
async function checkVideo(page) {
    await until("the video plays", async () => {
        const video = await videoOf(page);
        assert.equal(video?.error, undefined);
        return (video?.time ?? 0) > 0.3;
    });
    const { width, height } = await videoOf(page);
    assert.deepEqual([width, height], [WIDTH, HEIGHT]);
    const difference = await page.evaluate(() => {
        const painted = (element) => {
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [640, 360];
            const context = canvas.getContext("2d");
            context.drawImage(element, 0, 0);
            return context.getImageData(0, 0, 640, 360).data;
        };
        const [video, image] = [painted(document.querySelector("video")), painted(document.querySelector("img"))];
        let most = 0;
        for (let bar = 0; bar < 7; ++bar) {
            const left = Math.round(((bar + 0.5) * 640) / 7) - 16;
            for (let channel = 0; channel < 3; ++channel) {
                let sum = 0;
                for (let y = 100; y < 132; ++y)
                    for (let x = left; x < left + 32; ++x) sum += video[4 * (y * 640 + x) + channel] - image[4 * (y * 640 + x) + channel];
                most = Math.max(most, Math.abs(sum) / (32 * 32));
            }
        }
        return most;
    });
    assert.ok(difference <= MOST_DIFFERENCE, `the colours differ by ${difference}`);
}

/** Adds the picture that viewers see to the page. */
function addPicture(page) {
    return page.evaluate(async () => {
        const image = document.createElement("img");
        image.src = "/door/snapshot.png";
        document.body.append(image);
        await image.decode();
    });
}

test("a tab shows the stream", async (t) => {
    const address = await start(t);
    const context = await browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${address}/door/stream.mp4`, { waitUntil: "commit" });
    await until("the video plays", async () => {
        const video = await videoOf(page);
        return video?.width === WIDTH && video.height === HEIGHT && video.time > 0.3;
    });
});

// The page's own policy allows no other videos, so the test's element needs a context without it.
test("a video element shows the stream in the right colours", async (t) => {
    const address = await start(t);
    const { page, close } = await openPage(browser, `${address}/`, { bypassCSP: true });
    t.after(close);
    await addPicture(page);
    await page.evaluate(() => {
        const video = document.createElement("video");
        [video.muted, video.src] = [true, "/door/stream.mp4"];
        document.body.append(video);
        video.play();
    });
    await checkVideo(page);
});

test("Media Source Extensions play the stream and a segment of the playlist", async (t) => {
    const address = await start(t);
    for (const source of ["stream", "playlist"]) {
        const { page, close } = await openPage(browser, `${address}/`, { bypassCSP: true });
        await addPicture(page);
        await page.evaluate(async (kind) => {
            const media = new MediaSource();
            const video = document.createElement("video");
            [video.muted, video.src] = [true, URL.createObjectURL(media)];
            document.body.append(video);
            video.play();
            await new Promise((resolve) => media.addEventListener("sourceopen", resolve, { once: true }));
            const buffer = media.addSourceBuffer('video/mp4; codecs="avc1.64001E"');
            const append = async (bytes) => {
                buffer.appendBuffer(bytes);
                await new Promise((resolve) => buffer.addEventListener("updateend", resolve, { once: true }));
                // A segment in the middle of a stream does not start at 0.
                if (buffer.buffered.length && video.currentTime < buffer.buffered.start(0)) video.currentTime = buffer.buffered.start(0);
            };
            const feed = async () => {
                if (kind === "stream") {
                    const reader = (await fetch("/door/stream.mp4")).body.getReader();
                    for (;;) await append((await reader.read()).value);
                }
                const playlist = await (await fetch("/door/index.m3u8")).text();
                const files = [playlist.match(/URI="(.*init.*?)"/)[1], ...playlist.split("\n").filter((line) => line.startsWith("hls/"))];
                for (const file of files) await append(await (await fetch(`/door/${file}`)).arrayBuffer());
            };
            feed();
        }, source);
        await checkVideo(page);
        await close();
    }
});
