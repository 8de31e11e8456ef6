import { make } from "../dom.js";
import { AdjustSection } from "./adjust_section.js";
import { ChainEditor } from "./chain_editor.js";
import { CommandSection } from "./command_section.js";
import { RecordingSection } from "./recording_section.js";
import { StreamSection } from "./stream_section.js";
import { ZonesSection } from "./zones_section.js";

/** All that may be ordered of a camera; where the server takes no orders, how it stands. */
export class Panel {
    /**
     * @param {import("../picture/picture.js").CameraPicture} picture
     * @param {import("../server/cameras.js").Cameras} cameras
     * @param {any} server
     */
    constructor(picture, cameras, server) {
        const { camera } = picture;
        const learned = (answer) => cameras.learn(answer);
        this.parts = camera.may_be_set
            ? [
                  new ChainEditor(camera, learned),
                  new StreamSection(camera, learned),
                  new AdjustSection(camera, learned),
                  new ZonesSection(picture, learned),
                  new RecordingSection(server),
                  new CommandSection(),
              ]
            : [new CommandSection()];
        this.element = make(
            "aside",
            { class: "panel", "aria-label": "Panel" },
            camera.may_be_set
                ? null
                : make("p", { class: "section-note" }, "This camera takes no orders. ", make("code", {}, "framewire serve --panel"), " lets it."),
            ...this.parts.map((part) => part.element),
        );
    }

    /** @param {any} camera as it stands */
    learn(camera) {
        for (const part of this.parts) part.learn(camera);
    }

    close() {
        this.element.remove();
    }
}
