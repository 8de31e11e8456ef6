// Tests the page below a path of a shared host, as reverse proxies publish it.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer, request as ask } from "node:http";
import { connect } from "node:net";
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

/**
 * Starts a reverse proxy with one server per path.
 * @param {import("node:test").TestContext} t
 * @param {Record<string, number>} ports by path, such as "/cams"
 * @param {boolean} strips whether the proxy removes the path from requests
 * @returns {Promise<{host: string, missed: string[]}>} missed: requests for no server
 */
async function proxy(t, ports, strips) {
    /** @type {string[]} */
    const missed = [];
    const route = (url) => {
        const found = Object.entries(ports).find(([path]) => url === path || url.startsWith(`${path}/`));
        if (!found) missed.push(url);
        return found && { port: found[1], path: strips ? url.slice(found[0].length) || "/" : url };
    };
    const server = createServer((request, response) => {
        const to = route(request.url);
        if (!to) return response.writeHead(404).end();
        const { method, headers } = request;
        const passed = ask({ host: "127.0.0.1", ...to, method, headers }, (answer) => {
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        });
        passed.on("error", () => response.destroy());
        request.pipe(passed);
    });
    server.on("upgrade", (request, socket, head) => {
        const to = route(request.url);
        if (!to) return socket.destroy();
        const passed = connect(to.port, "127.0.0.1", () => {
            const fields = request.rawHeaders.map((text, at) => text + (at % 2 ? "\r\n" : ": ")).join("");
            passed.write(`GET ${to.path} HTTP/1.1\r\n${fields}\r\n`);
            passed.write(head);
            passed.pipe(socket).pipe(passed);
        });
        for (const end of [passed, socket]) end.on("error", () => (passed.destroy(), socket.destroy()));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    t.after(() => (server.close(), server.closeAllConnections()));
    return { host: `127.0.0.1:${/** @type {any} */ (server.address()).port}`, missed };
}

for (const strips of [true, false])
    test(`the page works if the proxy ${strips ? "removes the path" : "keeps the path"}`, async (t) => {
        const options = strips ? [] : ["--base-path", "/home/cams"];
        const { port } = await serve(t, "-i", `door=${SOURCE}`, "--controls", ...options);
        const { host, missed } = await proxy(t, { "/home/cams": port }, strips);
        const { page, complaints, close } = await openPage(browser, `http://${host}/home/cams${strips ? "/" : ""}`);
        t.after(close);
        await untilLive(page);
        assert.ok((await heldPicture(page)).version > 0);
        await page.goto(`http://${host}/home/cams/#/door`);
        const threshold = await page.evaluate(() =>
            fetch("api/cameras/door/threshold", {
                method: "PUT",
                headers: { "Content-Type": "application/json" },
                body: '{"threshold":9}',
            }).then((answer) => answer.json()),
        );
        assert.equal(threshold.threshold, 9);
        assert.equal(threshold.stream, `${strips ? "" : "/home/cams"}/door/stream`);
        const manifest = await page.evaluate(async () => {
            const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="manifest"]'));
            const { start_url: start, icons } = await (await fetch(link.href)).json();
            return [start, icons[0].src].map((address) => new URL(address, link.href).pathname);
        });
        assert.deepEqual(manifest, ["/home/cams/", "/home/cams/icon.svg"]);
        const isWhole = () => [...document.querySelectorAll('link[rel="stylesheet"]')].every(({ sheet }) => sheet);
        assert.ok(await page.evaluate(isWhole), "a style sheet is missing");
        await page.goto(`http://${host}/home/cams/door/view`);
        await page.locator('#view[data-state="live"]:not(.empty)').waitFor();
        assert.ok(await page.evaluate(isWhole), "a style sheet of the view is missing");
        assert.deepEqual(missed, []);
        assert.deepEqual(complaints, []);
    });

test("servers below different paths of one host do not receive each other's token", async (t) => {
    const file = join(folderOf(t), "token");
    writeFileSync(file, TOKEN, { mode: 0o600 });
    const one = await serve(t, "-i", SOURCE, "--token-file", file);
    const other = await serve(t, "-i", SOURCE, "--token-file", file);
    const { host } = await proxy(t, { "/one": one.port, "/other": other.port }, true);
    const { page, close } = await openPage(browser, `http://${host}/one/`);
    t.after(close);
    /** @type {string[]} */
    const sent = [];
    page.on("request", (request) => {
        if (request.headers().authorization) sent.push(new URL(request.url()).pathname.split("/")[1]);
    });
    const dialog = page.getByRole("dialog", { name: "This server wants a token" });
    await dialog.getByLabel("Token").fill(TOKEN);
    await dialog.getByRole("button", { name: "Enter" }).click();
    await untilLive(page);
    assert.deepEqual([...new Set(sent)], ["one"]);
    await page.goto(`http://${host}/other/`);
    await until("the other server's question", () => dialog.isVisible());
    assert.deepEqual([...new Set(sent)], ["one"]);
});
