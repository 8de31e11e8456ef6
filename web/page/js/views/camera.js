import { make } from "../dom.js";
import { Figures } from "../figures/figures.js";
import { Panel } from "../panel/panel.js";
import { openPicture } from "../picture/picture.js";
import { Toolbar } from "./toolbar.js";

/** View of one camera: a large picture, statistics with plots, and the panel. */
export class CameraView {
    /**
     * @param {import("../server/cameras.js").Cameras} cameras
     * @param {string} name
     * @param {any} server properties of the server
     */
    constructor(cameras, name, server) {
        this.name = name;
        const camera = cameras.named(name);
        this.picture = openPicture(camera);
        if (camera.detects) this.picture.followTracks();
        this.toolbar = new Toolbar(this.picture, cameras, server);
        this.figures = new Figures(
            this.picture,
            ["fps", "latency", "bandwidth", "changed", "bound", "drops"],
            ["fps", "latency", "bandwidth", "changed", "bound", "drops"],
        );
        this.panel = new Panel(this.picture, cameras, server);
        this.source = make("p", { class: "soft source" });
        this.element = make(
            "div",
            { class: "camera-view" },
            make(
                "section",
                { class: "stage", "aria-labelledby": "camera-name" },
                make("div", { class: "camera-head" }, make("h1", { id: "camera-name" }, name || "camera"), this.source),
                make("div", { class: "picture-place" }, this.picture),
                this.toolbar.element,
                make("h2", { class: "unseen" }, "Figures"),
                this.figures.element,
            ),
            this.panel.element,
        );
    }

    /** Applies the settings of all cameras. @param {any[]} cameras */
    learn(cameras) {
        const camera = cameras.find((one) => one.name === this.name);
        this.source.textContent = `${camera.source} · ${camera.size.join(" × ")} · ${camera.channels === 1 ? "gray" : "colour"}`;
        this.picture.learn(camera);
        this.toolbar.learn(camera);
        this.panel.learn(camera);
    }

    /** Ends the stream and removes the panel. */
    close() {
        this.toolbar.close();
        this.panel.close();
        this.figures.close();
        this.picture.close();
    }
}
