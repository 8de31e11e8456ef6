// What a page shows of its cameras, for tests to look at.

/** @typedef {import("playwright-core").Page} Page */

/**
 * What the page holds of its first camera: the stream's bytes, and which frame they are of.
 * @param {Page} page
 * @returns {Promise<{width: number, height: number, channels: number, version: number, frame: number | null, data: Buffer}>}
 */
export async function heldPicture(page) {
    const { text, ...held } = await page.evaluate(async () => {
        const picture = document.querySelector("camera-picture");
        if (!picture.frames) {
            picture.frames = new Map();
            picture.stream.addEventListener("frame", ({ detail }) => picture.frames.set(detail.version, detail.frame));
        }
        const { data, ...rest } = await picture.stream.pixels();
        let text = "";
        for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
        return { ...rest, frame: picture.frames.get(rest.version) ?? null, text };
    });
    return { ...held, data: Buffer.from(text, "latin1") };
}

/** Waits until the first camera is live and has a picture. @param {Page} page */
export async function untilLive(page) {
    const isLive = () => document.querySelector("camera-picture")?.dataset.state === "live";
    // A page that is loaded again answers nothing just then.
    await until("a live camera", () => page.evaluate(isLive).catch(() => false), () => page.evaluate(describePage));
    await until("a picture", () => heldPicture(page).then((held) => held.version > 0, () => false));
}

// In the page: how its pictures stand, and its words.
function describePage() {
    const stands = ({ state, text, runs, inView }) => ({ state, text, runs, inView });
    const pictures = [...document.querySelectorAll("camera-picture")].map(stands);
    return JSON.stringify({ pictures, hidden: document.hidden, words: document.body.innerText.slice(0, 400) });
}

const betweenLooksMs = 50;

/**
 * Asks until the answer is yes.
 * @param {string} what is waited for, for people to read
 * @param {() => Promise<any>} isSo
 * @param {() => Promise<string>} [seen] what there is instead, for people to read
 */
export async function until(what, isSo, seen = async () => "") {
    const end = Date.now() + 60_000; // a busy machine's
    for (;;) {
        const answer = await isSo();
        if (answer) return answer;
        if (Date.now() > end) throw new Error(`waited in vain for ${what} ${await seen()}`);
        await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
    }
}

/**
 * The picture as painted on the screen, each pixel of the canvas one of the screen.
 * @param {Page} page
 * @returns {Promise<Buffer>} R, G, B, A
 */
export async function paintedPicture(page) {
    const canvas = page.locator("camera-picture canvas").first();
    const [width, height] = await canvas.evaluate((element) => {
        const picture = element.closest("camera-picture");
        const { width, height } = element;
        for (const hidden of [picture.note, picture.overlay.element]) hidden.style.display = "none";
        const place = { position: "fixed", left: 0, top: 0, zIndex: 99, width: `${width}px`, minWidth: 0 };
        Object.assign(picture.frame.style, place, { opacity: 1, transition: "none" });
        return [width, height];
    });
    const png = await canvas.screenshot();
    const text = await page.evaluate(
        async ([base64, width, height]) => {
            const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
            const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }), { colorSpaceConversion: "none" });
            if (image.width !== width || image.height !== height) throw new Error(`${image.width} x ${image.height} is seen`);
            const context = new OffscreenCanvas(width, height).getContext("2d");
            context.drawImage(image, 0, 0);
            const { data } = context.getImageData(0, 0, width, height);
            let text = "";
            for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
            return text;
        },
        [png.toString("base64"), width, height],
    );
    return Buffer.from(text, "latin1");
}

/** B, G, R as R, G, B, A. @param {Buffer} bgr */
export function asPainted(bgr) {
    const rgba = Buffer.alloc((bgr.length / 3) * 4, 255);
    for (let from = 0, to = 0; from < bgr.length; from += 3, to += 4) {
        rgba[to] = bgr[from + 2];
        rgba[to + 1] = bgr[from + 1];
        rgba[to + 2] = bgr[from];
    }
    return rgba;
}
