// Tests the editor of polygons and lines with the real server: what is drawn must reach the camera, and events must be
// shown.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { serve } from "../stream/tests/programs.js";
import { openPage, startBrowser, violations } from "./kit/browser.js";
import { until, untilLive } from "./kit/shown.js";

const SOURCE = "synth:size=320x180:fps=15:noise=3:objects=4:seed=3";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

const camera = (page) => page.evaluate(() => document.querySelector("camera-picture").camera);
const zones = async (page) => (await camera(page)).event_zones.zones;

async function openEvents(t, ...args) {
    const { port } = await serve(t, "-i", SOURCE, "--controls", "--detect", ...args);
    const opened = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(opened.close);
    await untilLive(opened.page);
    await opened.page.locator("summary", { hasText: "Events" }).click();
    return opened;
}

/** Clicks at a fraction of the picture. */
async function clickAt(page, x, y) {
    const box = await page.locator(".event-zone-layer").boundingBox();
    await page.mouse.click(box.x + x * box.width, box.y + y * box.height);
}

const isNear = (point, x, y) => Math.abs(point[0] - x) < 0.01 && Math.abs(point[1] - y) < 0.01;

test("polygons and lines are drawn by clicks, and corners are dragged", async (t) => {
    const { page, complaints } = await openEvents(t);
    await page.getByRole("button", { name: "Draw polygon" }).click();
    for (const [x, y] of [[0.2, 0.2], [0.8, 0.2], [0.8, 0.8]]) await clickAt(page, x, y);
    assert.equal((await zones(page)).length, 0, "it is not complete yet");
    await page.keyboard.press("Enter");
    const polygon = await until("the polygon", async () => (await zones(page))[0]);
    assert.equal(polygon.name, "polygon 1");
    assert.deepEqual(polygon.events, ["enter", "leave"]);
    assert.ok(polygon.polygon.length === 3 && isNear(polygon.polygon[2], 0.8, 0.8), JSON.stringify(polygon));

    await page.getByRole("button", { name: "Draw line" }).click();
    await clickAt(page, 0.5, 0.1);
    await clickAt(page, 0.5, 0.9);
    const line = await until("the line", async () => (await zones(page))[1]);
    assert.ok(isNear(line.line[0], 0.5, 0.1) && isNear(line.line[1], 0.5, 0.9), JSON.stringify(line));

    const corner = await page.locator(".event-corner").first().boundingBox();
    const layer = await page.locator(".event-zone-layer").boundingBox();
    await page.mouse.move(corner.x + corner.width / 2, corner.y + corner.height / 2);
    await page.mouse.down();
    await page.mouse.move(layer.x + 0.1 * layer.width, layer.y + 0.3 * layer.height, { steps: 4 });
    await page.mouse.up();
    await until("the corner to move", async () => isNear((await zones(page))[0].polygon[0], 0.1, 0.3));

    await page.getByRole("button", { name: "Draw polygon" }).click();
    await clickAt(page, 0.5, 0.5);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".event-zone.draft").count(), 0);
    assert.equal((await zones(page)).length, 2);
    assert.deepEqual(complaints, []);
});

test("everything works by keys", async (t) => {
    const { page, complaints } = await openEvents(t);
    await page.getByRole("button", { name: "Add polygon" }).press("Enter");
    await until("the polygon", async () => (await zones(page)).length === 1);
    await until("the first corner's focus", async () =>
        (await page.evaluate(() => document.activeElement?.getAttribute("aria-label")))?.startsWith("polygon 1, corner 1"),
    );
    await page.keyboard.press("ArrowLeft");
    await until("the corner to move", async () => isNear((await zones(page))[0].polygon[0], 0.34, 0.35));
    await page.keyboard.press("Enter");
    await until("another corner", async () => (await zones(page))[0].polygon.length === 5);
    await page.keyboard.press("Delete");
    await until("one less", async () => (await zones(page))[0].polygon.length === 4);

    await page.getByLabel("polygon 1, stays").check();
    await page.getByLabel("polygon 1, seconds inside").fill("3");
    await page.getByLabel("polygon 1, seconds inside").press("Tab");
    await until("loiter", async () => (await zones(page))[0].loiter === 3);
    await page.getByLabel("polygon 1, leaves").uncheck();
    await until("its events", async () => String((await zones(page))[0].events) === "enter,loiter");
    await page.getByLabel("polygon 1, name").fill("drive");
    await page.getByLabel("polygon 1, name").press("Tab");
    await until("its name", async () => (await zones(page))[0].name === "drive");

    await page.getByRole("button", { name: "Add line" }).press("Enter");
    await until("the line", async () => (await zones(page)).length === 2);
    await page.getByLabel("line 1, crossed to the right").fill("in");
    await page.getByLabel("line 1, crossed to the right").press("Tab");
    await until("its directions", async () => String((await zones(page))[1].directions) === "in,left");
    await page.getByLabel("line 1, name").fill("drive");
    await page.getByLabel("line 1, name").press("Tab");
    await until("the refusal", async () => /two zones have the name 'drive'/.test(await page.locator(".event-section .refusal").textContent()));
    await page.getByRole("button", { name: "Remove drive" }).first().click();
    await until("one zone", async () => (await zones(page)).length === 1);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(complaints.filter((text) => !text.includes("400")), []);
});

test("events are listed, and their zones flash", async (t) => {
    const { page } = await openEvents(t);
    await page.getByRole("button", { name: "Add polygon" }).click();
    for (const [corner, keys] of [[0, ["ArrowLeft", "ArrowUp"]], [1, ["ArrowRight", "ArrowUp"]]]) {
        await page.locator(".event-corner").nth(corner).focus();
        for (const key of keys) for (let step = 0; step < 20; ++step) await page.keyboard.press(key);
    }
    await until("an event", async () => (await page.locator(".happened li").count()) > 0);
    assert.match(await page.locator(".happened li").first().textContent(), /polygon 1(enter|leave)/);
    await until("a flash", async () => (await page.locator(".event-zone.flash").count()) > 0);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/events.png` });
    await page.locator("summary", { hasText: "Events" }).click();
    await until("the editor to close", async () => (await page.locator(".event-zone-layer").count()) === 0);
    await until("the zone over the picture", async () => (await page.locator(".overlay .event-zone").count()) === 1);
});

test("without a detector there is no such part", async (t) => {
    const { port } = await serve(t, "-i", SOURCE, "--controls");
    const { page, close } = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(close);
    await untilLive(page);
    await page.locator("summary", { hasText: "Zones" }).waitFor();
    assert.equal(await page.locator("summary", { hasText: "Events" }).isVisible(), false);
});
