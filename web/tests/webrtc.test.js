// WebRTC sessions of `serve --video` in Chromium.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { folderOf, serve } from "../stream/tests/programs.js";
import { startBrowser } from "./kit/browser.js";
import { until } from "./kit/shown.js";

const [WIDTH, HEIGHT] = [640, 360];
const SOURCE = `door=lavfi:smptebars=size=${WIDTH}x${HEIGHT}:rate=30`;
const TOKEN = "correct-horse-battery-staple";
const MOST_DIFFERENCE = 6;

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

/** Starts a server with a token, and opens one of its pages in a context without the page's policy. */
async function start(t, ...args) {
    const token = join(folderOf(t), "token");
    writeFileSync(token, TOKEN, { mode: 0o600 });
    const { port } = await serve(t, "-i", SOURCE, "--video", "--token-file", token, ...args);
    const address = `http://127.0.0.1:${port}`;
    await until("a first frame", async () => (await fetch(`${address}/readyz`)).status === 200);
    const context = await browser.newContext({ bypassCSP: true, extraHTTPHeaders: { Authorization: `Bearer ${TOKEN}` } });
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${address}/healthz`);
    return { address, page };
}

/** Opens a session and plays it in a <video>. Returns the address of the session. */
function play(page, path) {
    return page.evaluate(async (endpoint) => {
        const video = document.createElement("video");
        video.muted = video.autoplay = true;
        document.body.replaceChildren(video);
        const peer = (globalThis.peer = new RTCPeerConnection());
        peer.addTransceiver("video", { direction: "recvonly" });
        peer.addTransceiver("audio", { direction: "recvonly" });
        peer.ontrack = ({ track }) => track.kind === "video" && (video.srcObject = new MediaStream([track]));
        await peer.setLocalDescription();
        const headers = { "Content-Type": "application/sdp" };
        const response = await fetch(endpoint, { method: "POST", headers, body: peer.localDescription.sdp });
        if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
        await peer.setRemoteDescription({ type: "answer", sdp: await response.text() });
        return response.headers.get("Location");
    }, path);
}

/** Returns the size of the page's video, and the mean colours of the chart's bars in it. */
function shown(page) {
    return page.evaluate(() => {
        const video = document.querySelector("video");
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [640, 360];
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(video, 0, 0, 640, 360);
        const bars = [];
        for (let bar = 0; bar < 7; ++bar) {
            const sums = [0, 0, 0];
            const { data } = context.getImageData(Math.round(((bar + 0.5) * 640) / 7) - 16, 100, 32, 32);
            for (let at = 0; at < data.length; ++at) if (at % 4 < 3) sums[at % 4] += data[at] / (32 * 32);
            bars.push(sums);
        }
        return { width: video.videoWidth, height: video.videoHeight, time: video.currentTime, bars };
    });
}

async function plays(page) {
    await until("the video plays", async () => (await shown(page)).time > 0.3);
    return shown(page);
}

const sessions = async (address) => {
    const response = await fetch(`${address}/api/stats`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    return (await response.json()).cameras.door.video.webrtc_clients;
};

// The colours of smptebars, BT.601 in limited range.
const BARS = [
    [191, 191, 191], [191, 191, 0], [0, 191, 191], [0, 191, 0], [191, 0, 191], [191, 0, 0], [0, 0, 191],
];

test("a session shows the camera in the right colours and sizes, and ends on request", async (t) => {
    const { address, page } = await start(t);
    const location = await play(page, "/door/whep");
    assert.match(location, /^\/door\/whep\/[\w-]{32}$/);
    const { width, height, bars } = await plays(page);
    assert.deepEqual([width, height], [WIDTH, HEIGHT]);
    const difference = Math.max(...bars.flat().map((value, at) => Math.abs(value - BARS.flat()[at])));
    assert.ok(difference <= MOST_DIFFERENCE, `the colours differ by ${difference}: ${JSON.stringify(bars)}`);
    assert.equal(await sessions(address), 1);
    assert.equal(await page.evaluate(async (where) => (await fetch(where, { method: "DELETE" })).status, location), 200);
    await until("the client notices the end", () => page.evaluate(() => globalThis.peer.connectionState !== "connected"));
    assert.equal(await sessions(address), 0);

    await play(page, "/door/whep?width=320&max-rate=10");
    const small = await plays(page);
    assert.deepEqual([small.width, small.height], [320, 180]);
    await page.evaluate(() => globalThis.peer.close());
    await until("the server notices the end", async () => (await sessions(address)) === 0);
});

test("a privacy mask hides everything from before", async (t) => {
    const { address, page } = await start(t, "--controls");
    await play(page, "/door/whep");
    assert.ok((await plays(page)).bars[0][0] > 150);
    const zones = [{ kind: "privacy", x: 0, y: 0, width: WIDTH, height: HEIGHT }];
    const response = await fetch(`${address}/api/cameras/door/zones`, {
        method: "PUT",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ zones }),
    });
    assert.equal(response.status, 200);
    await until("the mask is shown", async () => Math.max(...(await shown(page)).bars.flat()) < 12);
    // A client that comes now gets no picture from before.
    await play(page, "/door/whep");
    const most = Math.max(...(await plays(page)).bars.flat());
    assert.ok(most < 12, `${most}`);
});

test("requests are refused that break the rules", async (t) => {
    const { address } = await start(t);
    const ask = async (method, path, body, headers = {}) => {
        const all = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/sdp", ...headers };
        return (await fetch(address + path, { method, body, headers: all })).status;
    };
    assert.equal(await ask("POST", "/door/whep", "v=0", { Authorization: "" }), 401);
    assert.equal(await ask("POST", "/door/whep", "v=0", { "Content-Type": "text/plain" }), 415);
    assert.equal(await ask("POST", "/door/whep", "v=0\r\n"), 400);
    assert.equal(await ask("POST", "/door/whep?width=3", "v=0\r\n"), 400);
    assert.equal(await ask("POST", "/yard/whep", "v=0\r\n"), 404);
    assert.equal(await ask("POST", "/door/whep", "v=0\r\n".padEnd(20_000, "a")), 413);
    assert.equal(await ask("DELETE", "/door/whep/0123"), 404);
    assert.equal(await ask("DELETE", "/door/whep/0123", undefined, { Authorization: "" }), 401);
    assert.equal(await ask("PATCH", "/door/whep/0123", "a"), 405);
    assert.equal(await ask("GET", "/door/whep"), 405);
    assert.equal(await ask("OPTIONS", "/door/whep"), 405);
});
