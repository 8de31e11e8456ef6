import { freshId, make } from "../dom.js";
import { api } from "../server/api.js";
import { ControlRequests } from "../server/control_requests.js";
import { NumberField } from "./number_field.js";
import { RefusalLine, section } from "./section.js";

const MODES = {
    exact: "exact: every byte within the threshold",
    bounded: "bounded: the same bound, fewer bytes, more work",
    lossless: "lossless: the camera's bytes",
};
const GREATEST_THRESHOLD = 254;

/** Sets the error bound: the threshold and the mode. */
export class StreamSection {
    /** @param {any} camera @param {(camera: any) => void} learned receives the camera's settings after a request */
    constructor(camera, learned) {
        this.refusal = new RefusalLine();
        this.requests = new ControlRequests((asked) => api.setThreshold(camera.name, asked), {
            done: learned,
            refused: this.refusal.tell,
        });
        const id = freshId("mode");
        this.mode = make(
            "select",
            { id, onchange: () => this.requests.request({ mode: this.mode.value }, "mode") },
            ...Object.entries(MODES).map(([value, words]) => make("option", { value }, words)),
        );
        this.threshold = new NumberField(
            { name: "Threshold", minimum: 0, maximum: GREATEST_THRESHOLD, step: 1, value: camera.threshold },
            (threshold) => this.requests.request({ threshold }, "threshold"),
        );
        this.hint = make("p", { class: "soft" });
        this.element = section(
            "Error bound",
            { open: true },
            this.threshold.element,
            make("div", { class: "field" }, make("label", { for: id }, "Mode"), this.mode),
            this.hint,
            this.refusal.element,
        );
    }

    /** Shows the camera's settings, unless a request is pending. */
    learn(camera) {
        if (this.requests.pending) return;
        this.threshold.show(camera.threshold);
        this.threshold.enable(camera.mode !== "lossless");
        this.mode.value = camera.mode;
        this.hint.textContent =
            camera.mode === "lossless"
                ? "Every byte is the camera's."
                : camera.threshold_max > camera.threshold
                  ? `No byte seen is further from the camera's than this; for the bitrate it may rise to ${camera.threshold_max}.`
                  : "No byte seen is further from the camera's than this.";
    }
}
