// Access control: the token, and the limits on pages of other sites.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { folderOf, serve } from "../stream/tests/programs.js";
import { openPage, startBrowser } from "./kit/browser.js";
import { heldPicture, until, untilLive } from "./kit/shown.js";

const SOURCE = "synth:size=160x90:fps=10:seed=3";
const TOKEN = "correct-horse-battery-staple";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

test("asks for the token until it is right, and puts it in no address", async (t) => {
    const file = join(folderOf(t), "token");
    writeFileSync(file, TOKEN, { mode: 0o600 });
    const { port } = await serve(t, "-i", SOURCE, "--token-file", file);
    const { page, close } = await openPage(browser, `http://127.0.0.1:${port}/`);
    t.after(close);
    /** @type {string[]} */
    const addresses = [];
    page.on("request", (request) => addresses.push(request.url()));
    page.on("websocket", (socket) => addresses.push(socket.url()));
    const dialog = page.getByRole("dialog", { name: "This server wants a token" });
    await dialog.getByLabel("Token").fill("a wrong one");
    await dialog.getByRole("button", { name: "Enter" }).click();
    await until("another try", async () => (await dialog.getByLabel("Token").isEnabled()) && (await dialog.getByRole("button").isEnabled()));
    assert.notEqual(await dialog.locator(".refusal").textContent(), "");
    await dialog.getByLabel("Token").fill(TOKEN);
    await dialog.getByRole("button", { name: "Enter" }).click();
    await untilLive(page);
    assert.ok((await heldPicture(page)).version > 0);
    assert.ok(addresses.some((address) => address.startsWith("ws:")));
    assert.deepEqual(addresses.filter((address) => address.includes(TOKEN)), []);
    assert.deepEqual(await page.context().cookies(), []);
    await page.reload();
    await untilLive(page);
});

test("does not send a refused token again", async (t) => {
    const file = join(folderOf(t), "token");
    writeFileSync(file, TOKEN, { mode: 0o600 });
    const { port } = await serve(t, "-i", SOURCE, "--token-file", file);
    const context = await browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    // Simulates a tab that stayed open while the server's token changed.
    await page.addInitScript(() => sessionStorage.setItem("framewire-token /", "a token of yesterday"));
    await page.clock.install();
    let asked = 0;
    page.on("request", (request) => (asked += request.url().includes("/api/") ? 1 : 0));
    page.on("websocket", () => ++asked);
    await page.goto(`http://127.0.0.1:${port}/`);
    const dialog = page.getByRole("dialog", { name: "This server wants a token" });
    await dialog.getByLabel("Token").waitFor();
    const before = asked;
    await page.clock.runFor(60_000);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.clock.runFor(60_000);
    assert.equal(asked, before, "it asks on, which counts against its address");
    await dialog.getByLabel("Token").fill(TOKEN);
    await dialog.getByRole("button", { name: "Enter" }).click();
    await page.clock.runFor(10_000);
    await page.clock.resume();
    await untilLive(page);
});

/** Opens a page of another site: the same machine at another port. */
async function otherSite(t) {
    const server = createServer((_request, response) => {
        response.writeHead(200, { "Content-Type": "text/html" });
        response.end("<!doctype html><title>elsewhere</title>");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    t.after(() => server.close());
    const { page, close } = await openPage(browser, `http://127.0.0.1:${/** @type {any} */ (server.address()).port}/`);
    t.after(close);
    return page;
}

test("other sites' pages cannot read, control or watch", async (t) => {
    const { port } = await serve(t, "-i", SOURCE, "--controls");
    const victim = `http://127.0.0.1:${port}`;
    const stands = async () => (await (await fetch(`${victim}/api/cameras`)).json()).cameras[0];
    await until("its frames come", async () => (await stands()).up);
    const before = await stands();
    const page = await otherSite(t);

    const did = await page.evaluate(async (address) => {
        const attempt = (path, options) =>
            fetch(address + path, options).then((response) => `answered ${response.type}`, () => "refused");
        const order = JSON.stringify({ chain: "gray" });
        const chain = "/api/cameras/main/chain";
        return {
            read: await attempt("/api/cameras", {}),
            put: await attempt(chain, { method: "PUT", headers: { "Content-Type": "application/json" }, body: order }),
            putPlain: await attempt(chain, { method: "PUT", body: order }),
            post: await attempt("/api/cameras/main/record", { method: "POST", mode: "no-cors", body: '{"on":true}' }),
            socket: await new Promise((resolve) => {
                const socket = new WebSocket(`${address.replace("http", "ws")}/main/stream`, "framewire");
                socket.onopen = () => resolve("opened");
                socket.onerror = () => resolve("refused");
            }),
            events: await new Promise((resolve) => {
                const socket = new WebSocket(`${address.replace("http", "ws")}/api/events`);
                socket.onopen = () => resolve("opened");
                socket.onerror = () => resolve("refused");
            }),
        };
    }, victim);
    // A POST without CORS returns an opaque response. That it has no effect is checked below.
    assert.deepEqual(did, {
        read: "refused",
        put: "refused",
        putPlain: "refused",
        post: "answered opaque",
        socket: "refused",
        events: "refused",
    });

    const [posted] = await Promise.all([
        page.waitForResponse((response) => response.url().startsWith(victim)),
        page.evaluate((address) => {
            const form = document.createElement("form");
            Object.assign(form, { method: "post", enctype: "text/plain", action: `${address}/api/cameras/main/record` });
            const field = document.createElement("input");
            Object.assign(field, { name: '{"on":true,"x":"', value: '"}' });
            form.append(field);
            document.body.append(form);
            form.submit();
        }, victim),
    ]);
    assert.ok([403, 415].includes(posted.status()), `a form was answered ${posted.status()}`);
    const { command: _then, ...was } = before;
    const { command: _now, ...is } = await stands();
    assert.deepEqual(is, was);
});

test("other sites cannot frame the page", async (t) => {
    const { port } = await serve(t, "-i", SOURCE);
    const page = await otherSite(t);
    await page.evaluate((address) => {
        const frame = document.createElement("iframe");
        frame.src = address;
        document.body.append(frame);
        return new Promise((resolve) => (frame.onload = resolve));
    }, `http://127.0.0.1:${port}/`);
    assert.equal(await page.frames()[1].locator("header").count().catch(() => 0), 0);
});
