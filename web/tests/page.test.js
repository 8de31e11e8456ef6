// Tests the page with the real server: the page's picture must consist of the server's bytes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { folderOf, run, serve } from "../stream/tests/programs.js";
import { openPage, startBrowser } from "./kit/browser.js";
import { asPainted, heldPicture, paintedPicture, until, untilLive } from "./kit/shown.js";

const SOURCE = "synth:size=320x180:fps=15:noise=4:objects=3:seed=5";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

async function openServed(t, args, options) {
    const server = await serve(t, ...args);
    const opened = await openPage(browser, `http://127.0.0.1:${server.port}/`, options);
    t.after(opened.close);
    return { server, ...opened };
}

test("loads and shows a moving picture", async (t) => {
    const { page, complaints } = await openServed(t, ["-i", SOURCE]);
    await untilLive(page);
    assert.equal(await page.title(), "main · framewire");
    const first = await heldPicture(page);
    await until("another picture", async () => !(await heldPicture(page)).data.equals(first.data));
    const rate = page.locator(".figure.fps .value");
    await until("frames per second", async () => Number(await rate.textContent()) > 1);
    assert.match(await page.locator(".figure.bandwidth .below").textContent(), /% of .* raw/);
    assert.match(await page.locator(".figure.bound .value").textContent(), /± 20/);
    assert.match(await page.locator(".figure.latency .value").textContent(), /^\d+ ms$/);
    assert.ok(await page.locator(".plot canvas").count() === 6, "a plot for each figure");
    assert.deepEqual(complaints, []);
});

test("lossless: the decoded and painted picture equals the source", async (t) => {
    const raw = join(folderOf(t), "source.bgr");
    const frames = 150;
    assert.equal(await run(t, "run", "-i", SOURCE, "--frames", String(frames), "-o", raw), 0);
    const source = readFileSync(raw);
    const frameBytes = 320 * 180 * 3;
    assert.equal(source.length, frames * frameBytes);
    const indexOf = (data) =>
        [...Array(frames).keys()].find((index) => data.equals(source.subarray(index * frameBytes, (index + 1) * frameBytes)));

    const { page } = await openServed(t, ["-i", SOURCE, "--mode", "lossless"]);
    await untilLive(page);
    for (let at = 0; at < 5; ++at) {
        const held = await heldPicture(page);
        const index = indexOf(held.data);
        assert.notEqual(index, undefined, "no frame of the source has these bytes");
        if (held.frame !== null) assert.equal(index, held.frame, "it is another frame than the server says");
    }
    await page.evaluate(() => document.querySelector("camera-picture").stop(true));
    await page.locator('camera-picture[data-state="paused"]').waitFor();
    const held = await heldPicture(page);
    assert.notEqual(indexOf(held.data), undefined);
    assert.ok((await paintedPicture(page)).equals(asPainted(held.data)), "what is painted differs from what is held");
});

test("two browsers and two native viewers see one camera", async (t) => {
    const folder = folderOf(t);
    const { page, server } = await openServed(t, ["-i", SOURCE]);
    const other = await openPage(browser, `http://127.0.0.1:${server.port}/`);
    t.after(other.close);
    const native = [1, 2].map((number) =>
        run(t, "view", `tcp://127.0.0.1:${server.port}/main`, "--no-window", "--frames", "20", "-o", join(folder, `${number}.bgr`)),
    );
    await Promise.all([untilLive(page), untilLive(other.page)]);
    assert.deepEqual(await Promise.all(native), [0, 0]);
    for (const one of [page, other.page]) {
        const first = await heldPicture(one);
        await until("pictures for everybody", async () => (await heldPicture(one)).version > first.version);
    }
});

test("recovers after the server is killed", async (t) => {
    const { page, server } = await openServed(t, ["-i", SOURCE]);
    await untilLive(page);
    server.kill();
    await page.locator('camera-picture[data-state="lost"]').waitFor();
    await page.getByText("The server does not answer.").waitFor();
    await serve(t, "-i", SOURCE, "--listen", `127.0.0.1:${server.port}`);
    await page.locator('camera-picture[data-state="live"]').waitFor();
    const first = await heldPicture(page);
    await until("pictures of the new server", async () => !(await heldPicture(page)).data.equals(first.data));
    await until("the server to answer", async () => (await page.locator(".reach").textContent()) === "");
});

test("shows several cameras side by side, and each alone", async (t) => {
    const { page, complaints } = await openServed(t, ["-i", `door=${SOURCE}`, "-i", `yard=${SOURCE}`]);
    await page.locator('camera-picture[data-state="live"]').nth(1).waitFor();
    await page.getByRole("list").getByRole("link", { name: "yard" }).last().click();
    await page.getByRole("heading", { level: 1, name: "yard" }).waitFor();
    assert.match(page.url(), /#\/yard$/);
    await page.keyboard.press("0");
    await page.locator(".tile").nth(1).waitFor();
    await page.keyboard.press("1");
    await page.getByRole("heading", { level: 1, name: "door" }).waitFor();
    await untilLive(page);
    assert.deepEqual(complaints, []);
});

test("pauses while it is hidden", async (t) => {
    const { page } = await openServed(t, ["-i", SOURCE]);
    await untilLive(page);
    const hide = (hidden) =>
        page.evaluate((isHidden) => {
            Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }, hidden);
    await hide(true);
    await page.locator('camera-picture[data-state="paused"]').waitFor();
    await hide(false);
    await page.locator('camera-picture[data-state="live"]').waitFor();
});
