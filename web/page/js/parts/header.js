import { make, makeSvg } from "../dom.js";
import { icon } from "./icons.js";
import { showHelp } from "./shortcuts.js";
import { themeButton } from "./theme.js";

/** Address of the grid of all cameras. */
export const gridAddress = "#/";
/** Address of a camera's view. @param {string} name the camera's name */
export const cameraAddress = (name) => `#/${encodeURIComponent(name)}`;

/** Creates the logo. */
function mark() {
    return makeSvg(
        "svg",
        { viewBox: "0 0 64 64", class: "mark", "aria-hidden": "true" },
        makeSvg("path", {
            class: "mark-frame",
            d: "M8 20v-6a6 6 0 0 1 6-6h6M44 8h6a6 6 0 0 1 6 6v6M56 44v6a6 6 0 0 1-6 6h-6M20 56h-6a6 6 0 0 1-6-6v-6",
        }),
        makeSvg("path", { class: "mark-wire", d: "M4 33h16l6-14 9 27 6-13h19" }),
    );
}

/** The header above all views: cameras, the state of the server, and buttons for the page. */
export class Header {
    constructor() {
        this.cameras = make("ul", { class: "tabs" });
        this.reach = make("p", { class: "reach", role: "status" });
        document
            .getElementById("header")
            .replaceChildren(
                make("a", { class: "brand", href: gridAddress }, mark(), make("span", {}, "framewire")),
                make("nav", { "aria-label": "Cameras" }, this.cameras),
                this.reach,
                make(
                    "div",
                    { class: "tools" },
                    themeButton(),
                    make(
                        "button",
                        { class: "button plain square", type: "button", "aria-label": "Keys", title: "Keys (?)", onclick: showHelp },
                        icon("help"),
                    ),
                ),
            );
        this.said = "";
    }

    /**
     * Shows the cameras as tabs.
     * @param {any[]} cameras
     * @param {string | null} seen the camera that is shown alone, or null for the grid
     */
    show(cameras, seen) {
        const said = JSON.stringify([cameras.map(({ name, up }) => [name, up]), seen]);
        if (said === this.said) return;
        this.said = said;
        const tab = (href, isHere, ...words) =>
            make("li", {}, make("a", { href, "aria-current": isHere ? "page" : undefined }, ...words));
        this.cameras.replaceChildren(
            ...(cameras.length > 1 ? [tab(gridAddress, seen === null, icon("grid"), make("span", {}, "All"))] : []),
            ...cameras.map(({ name, up }) =>
                tab(
                    cameraAddress(name),
                    seen === name,
                    make("span", { class: up ? "dot up" : "dot" }),
                    make("span", {}, name || "camera"),
                    up ? null : make("span", { class: "unseen" }, ", lost"),
                ),
            ),
        );
    }

    /** Shows whether the server answers. @param {boolean} reached */
    tellReach(reached) {
        this.reach.textContent = reached ? "" : "The server does not answer. Trying again …";
    }
}
