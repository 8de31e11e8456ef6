import { make } from "../dom.js";
import { Figures } from "../figures/figures.js";
import { cameraAddress } from "../parts/header.js";
import { openPicture } from "../picture/picture.js";

/** View of all cameras side by side, each with its main statistics. */
export class Grid {
    constructor() {
        /** @type {Map<string, {picture: any, figures: Figures, element: HTMLElement, dot: HTMLElement}>} */
        this.tiles = new Map();
        this.list = make("ul", { class: "grid" });
        this.empty = make("p", { class: "empty", hidden: true }, "This server has no cameras yet.");
        this.element = make("div", { class: "grid-view" }, make("h1", { class: "unseen" }, "Cameras"), this.list, this.empty);
    }

    /** Applies the settings of all cameras, and adds and removes tiles. @param {any[]} cameras */
    learn(cameras) {
        for (const name of [...this.tiles.keys()])
            if (!cameras.some((camera) => camera.name === name)) this.removeTile(name);
        for (const camera of cameras) {
            if (!this.tiles.has(camera.name)) this.addTile(camera);
            const tile = this.tiles.get(camera.name);
            tile.picture.learn(camera);
            tile.dot.className = camera.up ? "dot up" : "dot";
        }
        this.empty.hidden = cameras.length > 0;
        this.list.style.setProperty("--columns", String(Math.ceil(Math.sqrt(cameras.length))));
    }

    /** Adds the tile of a camera. */
    addTile(camera) {
        const picture = openPicture(camera);
        const figures = new Figures(picture, ["fps", "latency", "bandwidth", "bound"], ["bandwidth"], true);
        const dot = make("span", { class: "dot" });
        const element = make(
            "li",
            { class: "tile" },
            picture,
            make(
                "h2",
                {},
                dot,
                make("a", { href: cameraAddress(camera.name) }, camera.name || "camera"),
                make("span", { class: "soft" }, camera.source),
            ),
            figures.element,
        );
        this.tiles.set(camera.name, { picture, figures, element, dot });
        this.list.append(element);
    }

    /** Removes the tile of a camera and ends its stream. */
    removeTile(name) {
        const { picture, figures, element } = this.tiles.get(name);
        figures.close();
        picture.close();
        element.remove();
        this.tiles.delete(name);
    }

    /** Removes all tiles. */
    close() {
        for (const name of [...this.tiles.keys()]) this.removeTile(name);
    }
}
