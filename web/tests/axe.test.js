// Tests that axe finds no accessibility problem in any view, dark or light, large or small.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { serve } from "../stream/tests/programs.js";
import { openPage, startBrowser, violations } from "./kit/browser.js";
import { untilLive } from "./kit/shown.js";

const SOURCE = "synth:size=320x180:fps=5:seed=3";
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

for (const [name, options] of Object.entries({
    dark: { colorScheme: "dark" },
    light: { colorScheme: "light" },
    "on a phone": { colorScheme: "dark", ...PHONE },
})) {
    test(`all views, ${name}`, async (t) => {
        const { port } = await serve(t, "-i", `door=${SOURCE}`, "-i", `yard=${SOURCE}`, "-f", "gaussian=5", "--controls");
        const { page, close } = await openPage(browser, `http://127.0.0.1:${port}/`, /** @type {any} */ (options));
        t.after(close);
        await page.locator(".tile").nth(1).waitFor();
        await untilLive(page);
        assert.deepEqual(await violations(page), [], "all cameras");
        await page.evaluate(() => (location.hash = "#/door"));
        await page.locator(".filter-name").click();
        for (const title of ["How filters run", "Zones", "Recording", "Command line"]) await page.locator("summary", { hasText: title }).click();
        await page.getByRole("button", { name: "Add zone" }).click();
        await untilLive(page);
        assert.deepEqual(await violations(page), [], "a camera and its panel");
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "nothing sticks out");
        await page.getByRole("button", { name: "Add filter" }).click();
        assert.deepEqual(await violations(page), [], "the choice of filters");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Keys", exact: true }).click();
        assert.deepEqual(await violations(page), [], "help");
    });
}
