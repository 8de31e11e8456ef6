// Tests the numbers and trails of tracked objects over the picture, with the real server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { TrackHistory } from "../page/js/picture/track_history.js";
import { serve } from "../stream/tests/programs.js";
import { openPage, startBrowser } from "./kit/browser.js";
import { until, untilLive } from "./kit/shown.js";

const SOURCE = "synth:size=320x180:fps=15:noise=3:objects=3:seed=2";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

const eventOf = (frame, ...objects) => ({
    frame,
    objects: objects.map(([track, x]) => ({ id: 1, box: [x, 10, 20, 30], ...(track && { track }) })),
});

test("a frame shows its own event, and trails end there", () => {
    const history = new TrackHistory();
    for (let frame = 5; frame < 10; ++frame) history.add(eventOf(frame, [7, 4 * frame], [undefined, 100]));
    assert.equal(history.at(4), null);
    const seen = history.at(7);
    assert.deepEqual(seen.boxes, [
        { x: 28, y: 10, width: 20, height: 30 },
        { x: 100, y: 10, width: 20, height: 30 },
    ]);
    assert.deepEqual(seen.tracks, [{ track: 7, box: [28, 10, 20, 30], trail: [[30, 40], [34, 40], [38, 40]] }]);
    assert.equal(history.at(9).tracks[0].trail.length, 5);
    assert.equal(history.at(30), null, "events are too old");
    history.add(eventOf(1, [1, 0]));
    assert.deepEqual(history.at(1).tracks[0].trail, [[10, 40]], "the source has started again");
});

test("events without tracks leave the boxes to the stream", () => {
    const history = new TrackHistory();
    history.add(eventOf(5, [undefined, 100]));
    assert.equal(history.at(5), null);
});

test("a slow picture keeps a bounded number of events", () => {
    const history = new TrackHistory();
    for (let frame = 0; frame < 5000; ++frame) history.add(eventOf(frame, [frame, 0]));
    assert.ok(history.events.length <= 300 && history.trails.size <= 1);
});

/** Returns the numbers that the page shows, and whether each stands at a corner of a box. */
const shown = (page) =>
    page.evaluate(() => {
        const corners = new Set([...document.querySelectorAll(".boxes rect")].map((box) => box.getAttribute("x")));
        return [...document.querySelectorAll(".tracks text")].map((text) => ({
            number: Number(text.textContent),
            isAtBox: corners.has(text.getAttribute("x")),
        }));
    });

async function open(t, ...args) {
    const { port } = await serve(t, "-i", SOURCE, "--detect", ...args);
    const opened = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(opened.close);
    await untilLive(opened.page);
    return opened;
}

test("tracked objects have their numbers and trails", async (t) => {
    const { page, complaints } = await open(t, "--track");
    const numbers = await until("two numbers", async () => {
        const all = await shown(page);
        return all.length >= 2 ? all : null;
    });
    for (const { number, isAtBox } of numbers) assert.ok(Number.isInteger(number) && number > 0 && isAtBox, JSON.stringify(numbers));
    assert.equal(new Set(numbers.map(({ number }) => number)).size, numbers.length);
    await until("a trail", async () =>
        (await page.locator(".trail").evaluateAll((all) => all.map((one) => one.getAttribute("points").split(" ").length))).some(
            (points) => points > 10,
        ),
    );
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/tracks.png` });
    await page.keyboard.press("b");
    assert.equal(await page.locator(".tracks").evaluate((group) => getComputedStyle(group).display), "none");
    assert.deepEqual(complaints, []);
});

test("without --track, boxes have no numbers", async (t) => {
    const { page } = await open(t);
    await until("boxes", async () => (await page.locator(".boxes rect").count()) > 0);
    await until("later boxes", async () => (await page.evaluate(() => document.querySelector("camera-picture").history.events.length)) > 0);
    assert.equal(await page.locator(".tracks text").count(), 0);
});
