// Tests files that cannot be loaded at first, for example because the network changes during loading.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { serve } from "../stream/tests/programs.js";
import { startBrowser } from "./kit/browser.js";
import { until, untilLive } from "./kit/shown.js";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

const PARTS = [
    "/css/theme.css",
    "/js/main.js",
    "/js/views/grid.js",
    "/stream/worker.js",
    "/stream/session.js",
    "/stream/viewer.wasm",
];

for (const part of PARTS)
    test(`${part} is loaded at the third attempt`, async (t) => {
        const { port } = await serve(t, "-i", "synth:size=64x48");
        const context = await browser.newContext();
        t.after(() => context.close());
        let tries = 0;
        await context.route(`**${part}`, (route) => (++tries < 3 ? route.abort("connectionreset") : route.continue()));
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${port}/`);
        await until("the third try", async () => tries >= 3);
        await untilLive(page);
        const isWhole = () => [...document.querySelectorAll('link[rel="stylesheet"]')].every(({ sheet }) => sheet);
        assert.ok(await page.evaluate(isWhole), "a style sheet is missing");
    });
