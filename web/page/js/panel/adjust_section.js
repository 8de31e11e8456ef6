import { make } from "../dom.js";
import { api } from "../server/api.js";
import { ControlRequests } from "../server/control_requests.js";
import { NumberField } from "./number_field.js";
import { RefusalLine, section } from "./section.js";

/** Brightness and related settings, with the names and ranges of the filter `adjust`. */
export class AdjustSection {
    /** @param {any} camera @param {(camera: any) => void} learned receives the camera's settings after a request */
    constructor(camera, learned) {
        this.refusal = new RefusalLine();
        this.requests = new ControlRequests((controls) => api.setControls(camera.name, controls), {
            done: learned,
            refused: this.refusal.tell,
        });
        /** @type {Record<string, NumberField>} */
        this.fields = {};
        this.place = make("div", { class: "fields" });
        this.fixed = make("p", { class: "soft" });
        this.reset = make("button", { class: "button", type: "button", onclick: () => this.request(this.neutral) }, "As the camera gives it");
        this.element = section("Picture", { open: true }, this.fixed, this.place, this.reset, this.refusal.element);
        api.filters().then(
            (filters) => this.fill(filters.find((filter) => filter.name === "adjust")),
            (refusal) => this.refusal.tell(refusal.message),
        );
    }

    /** Creates a field for each parameter of the filter. */
    fill(adjust) {
        this.neutral = Object.fromEntries(adjust.parameters.map((parameter) => [parameter.name, parameter.default]));
        this.values = { ...this.neutral };
        for (const { name, help, minimum, maximum, type } of adjust.parameters) {
            const title = name[0].toUpperCase() + name.slice(1);
            const step = type === "integer" ? 1 : 0.05;
            this.fields[name] = new NumberField(
                { name: title, help, minimum, maximum, step, value: this.neutral[name] },
                (value) => this.request({ ...this.values, [name]: value }),
            );
            this.place.append(this.fields[name].element);
        }
        if (this.camera) this.learn(this.camera);
    }

    /** Sends new values and shows them at once. */
    request(values) {
        this.values = values;
        for (const [name, field] of Object.entries(this.fields)) field.show(values[name]);
        this.requests.request(values);
    }

    /** Shows the camera's settings, unless a request is pending. */
    learn(camera) {
        this.camera = camera;
        this.fixed.textContent = camera.controls_fixed ?? "";
        this.fixed.hidden = !camera.controls_fixed;
        this.reset.disabled = Boolean(camera.controls_fixed);
        if (!this.requests.pending) this.values = { ...this.neutral, ...camera.controls };
        for (const [name, field] of Object.entries(this.fields)) {
            field.enable(!camera.controls_fixed);
            if (!this.requests.pending) field.show(this.values[name]);
        }
    }
}
