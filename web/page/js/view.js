// The view of one camera without anything around it, for OBS, dashboards and frames in other pages. It reconnects until
// it is closed.

import { CameraStream } from "../stream/camera_stream.js";
import { make } from "./dom.js";
import { askToken } from "./parts/ask_token.js";
import { api } from "./server/api.js";
import { addressOf } from "./server/root.js";
import { keepToken, token } from "./server/token.js";

/** Pause before it tries again after the stream has ended or was refused. */
const AGAIN_MS = 5000;
/** A shorter interruption shows no sign. */
const SIGN_AFTER_MS = 1500;

const name = decodeURIComponent(location.pathname.split("/").at(-2));
const main = document.getElementById("view");
const sign = document.getElementById("sign");
const heading = make("h1", { class: "unseen" }, name);

/** @type {CameraStream | null} */
let stream = null;
let runs = true;
let inView = true;
let signTimer = 0;
let againTimer = 0;
/** Refusals since the stream was live, except those of the token. */
let refusals = 0;

/** Applies the parameters `fit` and `background` of the address. */
function dressAsAsked() {
    const asked = new URLSearchParams(location.search);
    const fit = asked.get("fit") ?? "contain";
    if (!["contain", "cover"].includes(fit)) console.warn(`fit=${fit} is unknown; allowed: contain, cover`);
    main.classList.toggle("cover", fit === "cover");
    const background = asked.get("background") ?? "";
    if (["transparent", "black"].includes(background)) document.body.style.background = background;
    else if (/^[0-9a-f]{6}$/i.test(background)) document.body.style.background = `#${background}`;
    else if (background) console.warn(`background=${background} is unknown; allowed: transparent, black, RRGGBB`);
}

/** Stores the token of the address's fragment, which browsers never send, and removes it from the address. */
function takeToken() {
    const [, text] = /^#token=(.+)$/.exec(location.hash) ?? [];
    if (!text) return;
    try {
        keepToken(decodeURIComponent(text));
    } catch {
        // It contains a % that begins no escape, so it is not encoded.
        keepToken(text);
    }
    history.replaceState(history.state, "", location.pathname + location.search);
}

/** Shows the sign soon, or hides it if `text` is empty. */
function tell(text) {
    clearTimeout(signTimer);
    if (!text) sign.hidden = true;
    else if (!sign.hidden) sign.textContent = text;
    else
        signTimer = setTimeout(() => {
            sign.textContent = text;
            sign.hidden = false;
        }, SIGN_AFTER_MS);
}

/** Connects with a new canvas. */
function open() {
    clearTimeout(againTimer);
    stream?.close();
    const canvas = make("canvas", { role: "img", "aria-label": `${name}, live picture` });
    main.classList.add("empty");
    main.replaceChildren(heading, canvas);
    const url = addressOf(`${encodeURIComponent(name)}/stream`);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const opened = new CameraStream({ url, name, token: token(), canvas });
    stream = opened;
    // A worker that was closed may still have sent events.
    opened.addEventListener("state", (event) => opened === stream && enter(/** @type {CustomEvent} */ (event).detail.state));
    opened.addEventListener("frame", () => opened === stream && main.classList.remove("empty"));
    if (!runs) opened.pause();
}

/** Applies a state of the stream. */
function enter(state) {
    main.dataset.state = state;
    tell(["live", "paused"].includes(state) ? "" : "no signal");
    if (state === "live") refusals = 0;
    if (state === "ended") againTimer = setTimeout(() => runs && stream.resume(), AGAIN_MS);
    if (state === "refused") recover();
}

/**
 * Continues after a refusal: with another token; or with a new version of this view, because the server may have been
 * updated. The view is loaded again only while the server answers, or the browser would show its own error page.
 */
async function recover() {
    let status = 200;
    try {
        await api.cameras();
    } catch (refusal) {
        status = refusal.status;
        if (status === 401) {
            // A refused token is not sent again.
            keepToken("");
            tell("");
            await askToken(refusal.message);
            return open();
        }
    }
    if (status === 200 && ++refusals > 1) location.reload();
    else againTimer = setTimeout(open, AGAIN_MS);
}

/** Pauses or resumes the stream as needed. */
function runOrRest() {
    const wanted = inView && !document.hidden;
    if (wanted === runs) return;
    runs = wanted;
    clearTimeout(againTimer);
    if (main.dataset.state === "refused") open();
    else if (runs) stream.resume();
    else stream.pause();
}

takeToken();
dressAsAsked();
document.title = `${name} · framewire`;
open();
document.addEventListener("visibilitychange", runOrRest);
addEventListener("hashchange", () => location.reload());
new IntersectionObserver((entries) => {
    inView = entries.at(-1).isIntersecting;
    runOrRest();
}).observe(main);
