// Writes each state that the page shows of its first camera to a folder, until SIGTERM, and then prints their number.
// Names and contents are those of StateStore in tests/network, except for the hash, which is 0.
//     node watch_states.js ADDRESS FOLDER
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { openPage, startBrowser } from "./browser.js";
import { untilLive } from "./shown.js";

const [address, folder] = process.argv.slice(2);
let stops = false;
process.on("SIGTERM", () => (stops = true));

const browser = await startBrowser();
const { page } = await openPage(browser, address);
await untilLive(page);
await page.evaluate(() => {
    const { stream } = document.querySelector("camera-picture");
    // Versions start again with each hello.
    window.seen = { stream, details: new Map() };
    stream.addEventListener("hello", () => window.seen.details.clear());
    stream.addEventListener("frame", ({ detail }) => window.seen.details.set(detail.version, detail));
});

// Returns the state shown. A state that has not been painted has no details.
function shownState() {
    const ask = async () => {
        const { stream, details } = window.seen;
        const { data, version, ...shape } = await stream.pixels();
        const detail = details.get(version);
        if (!detail) return null;
        let text = "";
        for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
        return { ...shape, version, frame: detail.frame, threshold: detail.threshold, text };
    };
    // There is no state while a stream starts again.
    return page.evaluate(ask).catch(() => null);
}

const names = new Set();
while (!stops) {
    const state = await shownState();
    if (!state) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
    }
    const { frame, version, threshold, width, height, channels, text } = state;
    const name = `${frame}.${version}.${threshold}.${width}x${height}x${channels}.0`;
    if (names.has(name)) continue;
    names.add(name);
    const part = join(folder, "part-of-browser");
    writeFileSync(part, Buffer.from(text, "latin1"));
    renameSync(part, join(folder, name));
}
await browser.close();
console.log(names.size);
