import { freshId, make } from "../dom.js";

const WIDEST_SLIDER = 600;

/**
 * A labelled number field, with a slider if the range is small enough.
 * @param {{name: string, help?: string, minimum: number, maximum: number, step: number | "any", value: number,
 *     disabled?: boolean}} what
 * @param {(value: number) => void} changed also called while the slider moves
 */
export class NumberField {
    constructor(what, changed) {
        const id = freshId("number");
        const range = { min: what.minimum, max: what.maximum, step: what.step };
        const help = what.help ? make("p", { class: "soft", id: `${id}-help` }, what.help) : null;
        this.input = make("input", {
            type: "number",
            id,
            ...range,
            step: what.step === "any" || what.step < 1 ? "any" : what.step,
            inputmode: what.minimum < 0 ? null : "decimal",
            value: what.value,
            "aria-describedby": help?.id,
            onchange: () => {
                if (!this.input.reportValidity() || this.input.value === "") return;
                if (this.slider) this.slider.value = this.input.value;
                changed(Number(this.input.value));
            },
        });
        const hasSlider = what.maximum - what.minimum <= WIDEST_SLIDER;
        this.slider = hasSlider
            ? make("input", {
                  type: "range",
                  ...range,
                  step: what.step === "any" ? (what.maximum - what.minimum) / 200 : what.step,
                  "aria-label": `${what.name}, slider`,
                  value: what.value,
                  oninput: () => {
                      this.input.value = this.slider.value;
                      changed(Number(this.slider.value));
                  },
              })
            : null;
        this.element = make(
            "div",
            { class: `field number ${hasSlider ? "with-slider" : ""}` },
            make("label", { for: id }, what.name),
            this.slider,
            this.input,
            help,
        );
        this.enable(!what.disabled);
    }

    /** Enables or disables the field. */
    enable(enabled) {
        this.input.disabled = !enabled;
        if (this.slider) this.slider.disabled = !enabled;
    }

    /** Shows another value, unless the user is editing it. */
    show(value) {
        if (document.activeElement === this.input || document.activeElement === this.slider) return;
        this.input.value = String(value);
        if (this.slider) this.slider.value = String(value);
    }
}
