import { make } from "../dom.js";
import { Figures } from "../figures/figures.js";
import { cameraAddress } from "../parts/header.js";
import { openPicture } from "../picture/picture.js";

/** All cameras side by side, each with the figures that matter most. */
export class Grid {
    constructor() {
        /** @type {Map<string, {picture: any, figures: Figures, element: HTMLElement, dot: HTMLElement}>} */
        this.tiles = new Map();
        this.list = make("ul", { class: "grid" });
        this.empty = make("p", { class: "empty", hidden: true }, "This server has no cameras yet.");
        this.element = make("div", { class: "grid-view" }, make("h1", { class: "unseen" }, "Cameras"), this.list, this.empty);
    }

    /** @param {any[]} cameras as they stand */
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

    removeTile(name) {
        const { picture, figures, element } = this.tiles.get(name);
        figures.close();
        picture.close();
        element.remove();
        this.tiles.delete(name);
    }

    close() {
        for (const name of [...this.tiles.keys()]) this.removeTile(name);
    }
}
