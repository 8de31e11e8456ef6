// Tests the panel with the real server: settings must appear in the picture, and refusals must be shown.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { folderOf, run, serve } from "../stream/tests/programs.js";
import { openPage, startBrowser } from "./kit/browser.js";
import { heldPicture, until, untilLive } from "./kit/shown.js";

const SOURCE = "synth:size=320x180:fps=15:noise=0:objects=2:seed=3";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

async function openPanel(t, ...args) {
    const { port } = await serve(t, "-i", SOURCE, "--controls", "--threshold", "0", ...args);
    const opened = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(opened.close);
    await untilLive(opened.page);
    await opened.page.locator(".filters .button", { hasText: "Add filter" }).waitFor();
    return { ...opened, port };
}

const camera = (page) => page.evaluate(() => document.querySelector("camera-picture").camera);
const pixelAt = ({ data, width }, x, y) => [...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];

function isGray({ data }) {
    for (let at = 0; at < data.length; at += 3) if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return false;
    return true;
}

async function addFilter(page, words) {
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByLabel("Search filters").fill(words);
    await page.getByLabel("Search filters").press("Enter");
}

test("filters can be added, switched, moved and removed while the stream continues", async (t) => {
    const { page, complaints } = await openPanel(t);
    assert.equal(isGray(await heldPicture(page)), false);
    await page.evaluate(() => {
        const picture = document.querySelector("camera-picture");
        picture.states = [];
        picture.addEventListener("state", ({ detail }) => picture.states.push(detail));
    });
    await addFilter(page, "gray average");
    await until("gray pictures", async () => isGray(await heldPicture(page)));
    await page.getByRole("switch", { name: "gray on" }).click();
    await until("colours", async () => !isGray(await heldPicture(page)));
    await page.getByRole("switch", { name: "gray on" }).click();
    await addFilter(page, "flip");
    await until("two filters", async () => /^gray.*,flip/.test((await camera(page)).chain));
    await page.locator(".grip").nth(1).press("ArrowUp");
    await until("them the other way around", async () => /^flip.*,gray/.test((await camera(page)).chain));
    await page.getByRole("button", { name: "Remove gray" }).click();
    await page.getByRole("button", { name: "Remove flip" }).click();
    await until("the camera's colours", async () => (await camera(page)).chain === "" && !isGray(await heldPicture(page)));
    assert.deepEqual(await page.evaluate(() => document.querySelector("camera-picture").states), []);
    assert.deepEqual(complaints, []);
});

test("shows the server's refusals", async (t) => {
    const { page, port } = await openPanel(t);
    await page.getByText("As text", { exact: true }).click();
    await page.getByLabel("The chain as text").fill("blurr=5");
    await page.getByRole("button", { name: "Apply" }).click();
    const refused = await page.request.put(`http://127.0.0.1:${port}/api/cameras/main/chain`, { data: { chain: "blurr=5" } });
    assert.equal(refused.status(), 400);
    const { error } = await refused.json();
    assert.match(error.text, /blurr/);
    await until("the refusal", async () => (await page.locator(".filters .refusal").textContent()) === error.text);
    await page.getByRole("button", { name: "Back to what the server has" }).click();
    assert.equal(await page.locator(".filters .refusal").textContent(), "");
});

/** Returns the texts of the steps in which the filters run, as the page shows them. @returns {Promise<string[][]>} */
const shownSteps = (page) =>
    page.locator(".plan li").evaluateAll((items) => items.map((item) => [...item.children].map((part) => part.textContent)));

const plansSummary = (page) => page.locator("summary", { hasText: "How filters run" });

test("shows how the filters run, as text", async (t) => {
    const clip = join(folderOf(t), "clip.y4m");
    assert.equal(await run(t, "run", "-i", `${SOURCE}:frames=30`, "-o", `${clip}:pixels=yuv420p:range=limited`), 0);
    const args = ["-i", clip, "--loop", "--controls", "--backend", "cpu", "-f", "gaussian=5,median=3"];
    const { port } = await serve(t, ...args);
    const { page, complaints, close } = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(close);
    await untilLive(page);
    await page.locator(".filter").nth(1).waitFor();
    assert.equal(await page.locator(".plan").isVisible(), false, "it is closed at first");
    await plansSummary(page).click();
    const seen = async () => JSON.stringify(await shownSteps(page));
    const shows = (what, steps) => until(what, async () => (await seen()) === JSON.stringify(steps), seen);
    const turn = (filter) => page.getByRole("switch", { name: `${filter} on` }).click();
    const median = [["convert", "4:2:0 to BGR", "median needs colours"], ["median=3", "BGR"]];
    await shows("the plan", [["gaussian=5", "4:2:0"], ...median]);
    await page.getByText("On the CPU, for each frame in this order:", { exact: true }).waitFor();
    await turn("median");
    await shows("the plan without the median", [["gaussian=5", "4:2:0"], ["convert", "4:2:0 to BGR", "the output takes images"]]);
    await turn("median");
    await shows("the plan with it", [["gaussian=5", "4:2:0"], ...median]);

    const markup = `text=<b>${"wide".repeat(40)}</b>`;
    await page.getByText("As text", { exact: true }).click();
    await page.getByLabel("The chain as text").fill(`median=3,${markup}`);
    await page.getByRole("button", { name: "Apply" }).click();
    await shows("a chain with markup", [...median, [markup, "BGR"]]);
    await page.getByRole("switch", { name: "text on" }).waitFor();
    assert.deepEqual(await page.locator(".filter-name span").allTextContents(), ["median", "text"]);
    assert.equal(await page.locator(".plan b").count(), 0, "texts are no markup");
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "nothing sticks out");

    await turn("median");
    await turn("text");
    await page.getByText("No filter changes the picture: frames are sent as they are.", { exact: true }).waitFor();
    assert.equal(await page.locator(".plan").isVisible(), false, "there are no steps");
    await page.getByLabel("The chain as text").fill("");
    await page.getByRole("button", { name: "Apply" }).click();
    await until("nothing to show", async () => !(await plansSummary(page).isVisible()));
    assert.deepEqual(complaints, []);
});

test("sliders and numbers reach the camera", async (t) => {
    const { page } = await openPanel(t);
    await page.getByLabel("Saturation", { exact: true }).fill("0");
    await page.getByLabel("Saturation", { exact: true }).press("Enter");
    await until("gray pictures", async () => isGray(await heldPicture(page)));
    await page.getByRole("button", { name: "As the camera gives it" }).click();
    await until("colours", async () => !isGray(await heldPicture(page)));
    await page.getByLabel("Threshold, slider").press("ArrowRight");
    await until("the threshold in force", async () => (await page.locator(".figure.bound .value").textContent()) === "± 1");
    await page.getByLabel("Mode").selectOption("lossless");
    await until("lossless", async () => (await camera(page)).mode === "lossless");
    await untilLive(page);
});

test("zones can be drawn by mouse and moved by keys", async (t) => {
    const { page } = await openPanel(t);
    await page.locator("summary", { hasText: "Zones" }).click();
    const { x, y, width, height } = await page.locator(".zone-layer").boundingBox();
    await page.mouse.move(x + width / 4, y + height / 4);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + height / 2, { steps: 4 });
    await page.mouse.up();
    const zone = await until("the zone", async () => (await camera(page)).zones[0]);
    assert.ok(Math.abs(zone.x - 80) <= 1 && Math.abs(zone.y - 45) <= 1, JSON.stringify(zone));
    assert.ok(Math.abs(zone.width - 80) <= 2 && Math.abs(zone.height - 45) <= 2, JSON.stringify(zone));
    const isBlack = async (px, py) => pixelAt(await heldPicture(page), px, py).every((byte) => byte === 0);
    await until("black", async () => (await isBlack(85, 50)) && (await isBlack(155, 85)));
    assert.equal(await isBlack(200, 120), false);
    await page.locator(".zone-handle").focus();
    for (let step = 0; step < 12; ++step) await page.keyboard.press("ArrowRight");
    await until("it to move", async () => (await camera(page)).zones[0].x === zone.x + 96);
    await until("black where it is", async () => (await isBlack(250, 85)) && !(await isBlack(85, 50)));
    await page.keyboard.press("Delete");
    await until("no zone", async () => (await camera(page)).zones.length === 0);
});

test("the server stores snapshots and recordings, and the page saves snapshots", async (t) => {
    const folder = folderOf(t);
    const { page } = await openPanel(t, "--record-dir", folder);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Snapshot" }).click()]);
    assert.match(download.suggestedFilename(), /^main-\d{8}-\d{6}\.png$/);
    assert.equal(readFileSync(await download.path()).subarray(1, 4).toString(), "PNG");
    await page.getByRole("button", { name: "Keep" }).click();
    await until("a file of the server", async () => readdirSync(folder).some((name) => name.endsWith(".png")));
    const button = page.locator(".record");
    await button.click();
    await until("a recording", async () => /Recording \d/.test(await button.textContent()));
    await button.click();
    await until("its end", async () => (await button.textContent()) === "Record");
    assert.ok(readdirSync(folder).some((name) => name.endsWith(".fwd")));
});

test("shows views, the command line and the help for keys", async (t) => {
    const { page, complaints } = await openPanel(t);
    for (const view of ["Changes", "Heat", "Picture"]) {
        await page.getByText(view, { exact: true }).first().click();
        assert.ok(await page.getByRole("radio", { name: view }).isChecked());
    }
    await page.locator("summary", { hasText: "Command line" }).click();
    assert.match(await page.getByLabel("Serves the camera as it stands now").inputValue(), /^framewire serve .*synth:/);
    await page.locator("#main").press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    assert.deepEqual(complaints, []);
});

test("without control requests the panel shows the plan and says how to enable them", async (t) => {
    const { port } = await serve(t, "-i", SOURCE, "-f", "gaussian=5");
    const { page, close } = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(close);
    await page.getByText("framewire serve --controls", { exact: true }).waitFor();
    assert.equal(await page.locator(".filters").count(), 0);
    await plansSummary(page).click();
    assert.deepEqual(await shownSteps(page), [["gaussian=5", "BGR"]]);
});

