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

/** Properties of the server. @type {any} */
let server = null;
/** @type {Grid | CameraView | null} */
let view = null;
/** The camera that the view shows, and whether that camera accepts control requests, as JSON. */
let viewed = "";

/** Returns the camera named in the address, or the only camera, or null for all. @returns {string | null} */
function wanted() {
    let name = "";
    try {
        name = decodeURIComponent(location.hash.replace(/^#\/?/, ""));
    } catch {
        // The address is malformed, so all cameras are shown.
    }
    if (name && cameras.named(name)) return name;
    return cameras.all.length === 1 ? cameras.all[0].name : null;
}

/** Closes the current view. */
function closeView() {
    view?.close();
    view = null;
}

/** Shows the view that the address asks for. */
function show() {
    if (!server) return;
    const name = wanted();
    header.show(cameras.all, name);
    // After a restart the server may accept other control requests, so the view is created again.
    const asked = JSON.stringify([name, name !== null && cameras.named(name).may_be_set]);
    if (view === null || viewed !== asked) {
        const moved = view !== null;
        closeView();
        viewed = asked;
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

/** Asks for the token after a refusal. @param {import("./server/api.js").Refusal} refusal */
function askForToken(refusal) {
    // A refused token is not sent again.
    if (refusal.status === 401) keepToken("");
    return askToken(refusal.message);
}

/** Waits for the server, with the token if it needs one, and then polls its cameras. */
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
