// Reads what a page shows of its cameras.

/** @typedef {import("playwright-core").Page} Page */

/**
 * Returns the bytes of the first camera's picture and the number of their frame.
 * @param {Page} page
 * @returns {Promise<{width: number, height: number, channels: number, version: number, frame: number | null, data:
 *     Buffer}>}
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
    // A page that is being reloaded does not answer.
    await until("a live camera", () => page.evaluate(isLive).catch(() => false), () => page.evaluate(describePage));
    await until("a picture", () => heldPicture(page).then((held) => held.version > 0, () => false));
}

// Runs in the page: describes the state of its pictures and its texts.
function describePage() {
    const stands = ({ state, text, runs, inView }) => ({ state, text, runs, inView });
    const pictures = [...document.querySelectorAll("camera-picture")].map(stands);
    return JSON.stringify({ pictures, hidden: document.hidden, words: document.body.innerText.slice(0, 400) });
}

const betweenLooksMs = 50;

/**
 * Waits until a condition is true.
 * @param {string} what description of the condition
 * @param {() => Promise<any>} isSo
 * @param {() => Promise<string>} [seen] describes the actual state for the error
 */
export async function until(what, isSo, seen = async () => "") {
    // Long enough for a busy machine.
    const end = Date.now() + 60_000;
    for (;;) {
        const answer = await isSo();
        if (answer) return answer;
        if (Date.now() > end) throw new Error(`waited in vain for ${what} ${await seen()}`);
        await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
    }
}

/**
 * Returns the picture as painted on the screen, with one screen pixel per canvas pixel.
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

/** Converts B, G, R to R, G, B, A. @param {Buffer} bgr */
export function asPainted(bgr) {
    const rgba = Buffer.alloc((bgr.length / 3) * 4, 255);
    for (let from = 0, to = 0; from < bgr.length; from += 3, to += 4) {
        rgba[to] = bgr[from + 2];
        rgba[to + 1] = bgr[from + 1];
        rgba[to + 2] = bgr[from];
    }
    return rgba;
}
