import { make } from "./dom.js";
import { askToken } from "./parts/ask_token.js";
import { Header, cameraAddress, gridAddress } from "./parts/header.js";
import { onKey, startShortcuts } from "./parts/shortcuts.js";
import { nextTheme } from "./parts/theme.js";
import { api } from "./server/api.js";
import { Cameras } from "./server/cameras.js";
import { keepToken } from "./server/token.js";
import { CameraView } from "./views/camera.js";
import { Grid } from "./views/grid.js";

const main = document.getElementById("main");
const header = new Header();
const cameras = new Cameras();

/** What the server is. @type {any} */
let server = null;
/** @type {Grid | CameraView | null} */
let view = null;
/** What the view is of. */
let viewed = "";

/** @returns {string | null} the camera that the address names, or the only one */
function wanted() {
    let name = "";
    try {
        name = decodeURIComponent(location.hash.replace(/^#\/?/, ""));
    } catch {
        // An address that nobody here made: all cameras.
    }
    if (name && cameras.named(name)) return name;
    return cameras.all.length === 1 ? cameras.all[0].name : null;
}

function closeView() {
    view?.close();
    view = null;
}

function show() {
    if (!server) return;
    const name = wanted();
    header.show(cameras.all, name);
    // What may be ordered may be other after a server's restart.
    const wish = JSON.stringify([name, name !== null && cameras.named(name).may_be_set]);
    if (view === null || viewed !== wish) {
        const moved = view !== null;
        closeView();
        viewed = wish;
        view = name === null ? new Grid() : new CameraView(cameras, name, server);
        main.replaceChildren(view.element);
        document.title = name ? `${name} · framewire` : "framewire";
        if (moved) {
            main.focus({ preventScroll: true });
            scrollTo(0, 0);
        }
    }
    view.learn(cameras.all);
}

/** @param {import("./server/api.js").Refusal} refusal */
function askForToken(refusal) {
    if (refusal.status === 401) keepToken(""); // a refused token is not sent again
    return askToken(refusal.message);
}

async function start() {
    try {
        server = await api.server();
    } catch (refusal) {
        header.tellReach(false);
        if (refusal.status === 401 || refusal.status === 429) await askForToken(refusal);
        setTimeout(start, 1000);
        return;
    }
    header.tellReach(true);
    cameras.watch();
}

cameras.addEventListener("change", show);
cameras.addEventListener("reach", (event) => header.tellReach(/** @type {CustomEvent} */ (event).detail));
cameras.addEventListener("refused", async (event) => {
    closeView();
    await askForToken(/** @type {CustomEvent} */ (event).detail);
    server = await api.server().catch(() => server);
    cameras.resume();
});
addEventListener("hashchange", show);
document.addEventListener("visibilitychange", () => document.hidden || !server || cameras.watch());

startShortcuts();
for (let number = 1; number <= 9; ++number)
    onKey(
        String(number),
        number === 1 ? "a camera large" : "",
        () => {
            const camera = cameras.all[number - 1];
            if (camera) location.hash = cameraAddress(camera.name);
        },
        "1 … 9",
    );
onKey("0", "all cameras", () => (location.hash = gridAddress));
onKey("t", "colours: as the system, light, dark", nextTheme);

main.replaceChildren(make("p", { class: "empty" }, "Asking the server …"));
start();
