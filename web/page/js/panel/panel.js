import { make } from "../dom.js";
import { AdjustSection } from "./adjust_section.js";
import { ChainEditor } from "./chain_editor.js";
import { CommandSection } from "./command_section.js";
import { EventZonesSection } from "./event_zones_section.js";
import { PlanSection } from "./plan_section.js";
import { RecordingSection } from "./recording_section.js";
import { StreamSection } from "./stream_section.js";
import { ZonesSection } from "./zones_section.js";

/**
 * Panel with all settings of a camera. If the server accepts no control requests, it only shows how the filters run, and
 * the command line.
 */
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
                  new PlanSection(),
                  new StreamSection(camera, learned),
                  new AdjustSection(camera, learned),
                  new ZonesSection(picture, learned),
                  new EventZonesSection(picture, learned),
                  new RecordingSection(server),
                  new CommandSection(),
              ]
            : [new PlanSection(), new CommandSection()];
        this.element = make(
            "aside",
            { class: "panel", "aria-label": "Panel" },
            camera.may_be_set
                ? null
                : make("p", { class: "section-note" }, "This camera does not accept control requests. ", make("code", {}, "framewire serve --controls"), " allows them."),
            ...this.parts.map((part) => part.element),
        );
    }

    /** Passes the camera's settings to all sections. @param {any} camera */
    learn(camera) {
        for (const part of this.parts) part.learn(camera);
    }

    /** Removes the panel. */
    close() {
        for (const part of this.parts) if ("close" in part) part.close();
        this.element.remove();
    }
}
