// Tests the view of one camera with the real server: nothing but the picture, and a connection that always comes back.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { folderOf, serve } from "../stream/tests/programs.js";
import { openPage, startBrowser, violations } from "./kit/browser.js";
import { until } from "./kit/shown.js";

/** Twice as wide as high, one colour. */
const RED = "lavfi:color=red:size=160x80:rate=10";
const BLUE = "lavfi:color=blue:size=160x80:rate=10";
const SQUARE = { viewport: { width: 400, height: 400 } };
const TOKEN = "correct-horse-battery-staple";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

/** Opens the view of the camera `door`. */
async function openView(t, port, query = "", options = SQUARE) {
    const opened = await openPage(browser, `http://127.0.0.1:${port}/door/view${query}`, options);
    t.after(opened.close);
    return opened;
}

/** Waits for a picture. @param {import("playwright-core").Page | import("playwright-core").Frame} page */
const untilShown = (page) => page.locator('#view[data-state="live"]:not(.empty)').waitFor({ state: "attached" });

/** Returns R, G, B, A of some places of what the page shows. @param {number[][]} places */
async function colours(page, places, options = {}) {
    const png = await page.screenshot(options);
    return page.evaluate(
        async ([base64, wanted]) => {
            const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
            const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }), { colorSpaceConversion: "none" });
            const context = new OffscreenCanvas(image.width, image.height).getContext("2d", { willReadFrequently: true });
            context.drawImage(image, 0, 0);
            return wanted.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data]);
        },
        [png.toString("base64"), places],
    );
}

/** The picture fills rows 100 to 299 of a square view. The corners of view and picture, and the middle. */
const AROUND = [[0, 0], [399, 0], [0, 399], [399, 399], [0, 98], [399, 301]];
const WITHIN = [[0, 101], [399, 101], [0, 298], [399, 298], [200, 200]];
const isRed = ([r, g, b]) => r > 240 && g < 15 && b < 15;
const isBlue = ([r, g, b]) => r < 15 && g < 15 && b > 240;
const is = (...colour) => (seen) => seen.join() === colour.join();

async function expectColours(page, places, isRight, options = {}) {
    for (const [index, colour] of (await colours(page, places, options)).entries())
        assert.ok(isRight(colour), `at ${places[index]} it is ${colour}`);
}

test("shows the whole picture and nothing else", async (t) => {
    const { port } = await serve(t, "-i", `door=${RED}`);
    const { page, complaints } = await openView(t, port);
    await untilShown(page);
    await expectColours(page, WITHIN, isRed);
    await expectColours(page, AROUND, is(0, 0, 0, 255));
    assert.equal(await page.locator("#sign").isVisible(), false);
    assert.equal(await page.evaluate(() => document.documentElement.scrollHeight > innerHeight), false);
    assert.equal(await page.title(), "door · framewire");
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(complaints.filter((complaint) => !complaint.startsWith(`asked http://127.0.0.1:${port}/`)), []);
});

test("has the background and the fit of its address", async (t) => {
    const { port } = await serve(t, "-i", `door=${RED}`);
    const { page } = await openView(t, port, "?background=20C0ff");
    await untilShown(page);
    await expectColours(page, AROUND, is(0x20, 0xc0, 0xff, 255));
    await page.goto(`http://127.0.0.1:${port}/door/view?background=transparent`);
    await untilShown(page);
    await expectColours(page, AROUND, is(0, 0, 0, 0), { omitBackground: true });
    await expectColours(page, WITHIN, isRed);
    await page.goto(`http://127.0.0.1:${port}/door/view?fit=cover&background=20C0ff`);
    await untilShown(page);
    await expectColours(page, [...AROUND, ...WITHIN], isRed);
    await page.goto(`http://127.0.0.1:${port}/door/view?fit=stretch&background=red;x:y`);
    await untilShown(page);
    await expectColours(page, AROUND, is(0, 0, 0, 255));
});

test("comes back after the server was killed, with a sign meanwhile", async (t) => {
    const { port, kill } = await serve(t, "-i", `door=${RED}`);
    const { page } = await openView(t, port);
    await untilShown(page);
    kill();
    await page.locator("#sign").waitFor();
    assert.equal(await page.locator("#sign").textContent(), "no signal");
    await expectColours(page, WITHIN.slice(0, 2), isRed);
    await serve(t, "-i", `door=${BLUE}`, "--listen", `127.0.0.1:${port}`);
    await page.locator("#sign").waitFor({ state: "hidden" });
    await until("the new picture", async () => (await colours(page, WITHIN)).every(isBlue));
});

test("comes back after the stream has ended", async (t) => {
    const { port } = await serve(t, "-i", `door=${RED}`, "--frames", "30", "--wait", "1");
    const { page } = await openView(t, port);
    await page.locator("#sign").waitFor();
    await serve(t, "-i", `door=${BLUE}`, "--listen", `127.0.0.1:${port}`);
    await until("the new picture", async () => (await colours(page, WITHIN)).every(isBlue));
});

test("names the cameras if there is none of its name", async (t) => {
    const { port } = await serve(t, "-i", `yard=${RED}`);
    const { page } = await openView(t, port);
    assert.match(await page.evaluate(() => document.body.innerText), /there is no camera 'door'; available: yard/);
});

/** Serves `door` with a token. */
async function serveWithToken(t, ...more) {
    const file = join(folderOf(t), "token");
    writeFileSync(file, TOKEN, { mode: 0o600 });
    return serve(t, "-i", `door=${RED}`, "--token-file", file, ...more);
}

test("asks for the token, or takes it from the fragment of its address", async (t) => {
    const { port } = await serveWithToken(t);
    const { page } = await openView(t, port);
    const dialog = page.getByRole("dialog", { name: "This server wants a token" });
    await dialog.getByLabel("Token").fill(TOKEN);
    await dialog.getByRole("button", { name: "Enter" }).click();
    await untilShown(page);

    const other = await browser.newContext(SQUARE);
    t.after(() => other.close());
    const given = await other.newPage();
    /** @type {string[]} */
    const addresses = [];
    given.on("request", (request) => addresses.push(`${request.url()} ${JSON.stringify(request.headers())}`));
    given.on("websocket", (socket) => addresses.push(socket.url()));
    await given.goto(`http://127.0.0.1:${port}/door/view?background=20C0ff#token=${TOKEN}`);
    await untilShown(given);
    assert.equal(given.url(), `http://127.0.0.1:${port}/door/view?background=20C0ff`);
    // Playwright reports the fragment of a document's address, which Chromium does not send.
    assert.deepEqual(addresses.slice(1).filter((address) => address.includes(TOKEN)), []);
    assert.deepEqual(await other.cookies(), []);
    await given.reload();
    await untilShown(given);
    await given.goto(`http://127.0.0.1:${port}/door/view#token=a%20wrong%20one`);
    await given.getByRole("dialog").waitFor();
});

test("opens from the page, with the page's token", async (t) => {
    const { port } = await serveWithToken(t);
    const { page, close } = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(close);
    const dialog = page.getByRole("dialog", { name: "This server wants a token" });
    await dialog.getByLabel("Token").fill(TOKEN);
    await dialog.getByRole("button", { name: "Enter" }).click();
    const [view] = await Promise.all([
        page.context().waitForEvent("page"),
        page.getByRole("link", { name: "Only the picture, in a new tab" }).click(),
    ]);
    assert.equal(view.url(), `http://127.0.0.1:${port}/door/view`);
    await untilShown(view);
});

/** Serves a page of another site with a view in a frame. @returns {Promise<string>} its address */
async function dashboard(t, frame) {
    const server = createServer((_request, response) => {
        response.writeHead(200, { "Content-Type": "text/html" });
        response.end(`<!doctype html><title>dashboard</title><body bgcolor="#20c0ff"><iframe src="${frame()}"></iframe>`);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    t.after(() => (server.close(), server.closeAllConnections()));
    return `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
}

/** Opens a dashboard and returns its page and the frame in it. */
async function openDashboard(t, address) {
    const context = await browser.newContext(SQUARE);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${address}/`);
    await until("the frame", async () => page.frames().length === 2);
    return { page, frame: page.frames()[1] };
}

test("only the sites of --frame-ancestors may frame it", async (t) => {
    /** @type {string} */
    let view;
    const [allowed, other] = await Promise.all([dashboard(t, () => view), dashboard(t, () => view)]);
    const { port } = await serve(t, "-i", `door=${RED}`, "--frame-ancestors", `http://elsewhere.example,${allowed}`);
    view = `http://127.0.0.1:${port}/door/view?background=transparent`;
    const { page, frame } = await openDashboard(t, allowed);
    await untilShown(frame);
    // The frame of 300 by 150 pixels has its border at 8 pixels, and the picture fills all of it.
    await until("the picture in the frame", async () => (await colours(page, [[20, 20], [290, 150]])).every(isRed));
    const refused = await openDashboard(t, other);
    await until("the refusal", async () => refused.frame.url().startsWith("chrome-error:"));
});

test("a frame of another site asks for the token, and is transparent", async (t) => {
    /** @type {string} */
    let view;
    const address = await dashboard(t, () => view);
    const { port } = await serveWithToken(t, "--frame-ancestors", address);
    view = `http://127.0.0.1:${port}/door/view?background=transparent`;
    const { page, frame } = await openDashboard(t, address);
    const dialog = frame.getByRole("dialog", { name: "This server wants a token" });
    await dialog.getByLabel("Token").fill(TOKEN);
    await dialog.getByRole("button", { name: "Enter" }).click();
    await untilShown(frame);
    await page.locator("iframe").evaluate((element) => Object.assign(element.style, { width: "300px", height: "300px" }));
    await until("the picture", async () => isRed((await colours(page, [[150, 160]]))[0]));
    await expectColours(page, [[20, 20], [290, 290]], is(0x20, 0xc0, 0xff, 255));
});

test("no other site may frame it", async (t) => {
    const { port } = await serve(t, "-i", `door=${RED}`);
    const { frame } = await openDashboard(t, await dashboard(t, () => `http://127.0.0.1:${port}/door/view`));
    await until("the refusal", async () => frame.url().startsWith("chrome-error:"));
});

// As after an update of the server whose stream the loaded scripts do not understand.
test("loads itself again if the stream is refused twice for another reason than the token", async (t) => {
    const { port } = await serve(t, "-i", `door=${RED}`);
    const { page } = await openView(t, port);
    await untilShown(page);
    let isBroken = true;
    await page.route("**/stream/viewer.wasm", (route) => (isBroken ? route.fulfill({ body: "no module" }) : route.continue()));
    let loads = 0;
    page.on("load", () => ++loads);
    await page.reload();
    await until("its own reload", async () => loads === 2);
    isBroken = false;
    await untilShown(page);
});
