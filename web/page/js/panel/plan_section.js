import { make } from "../dom.js";
import { section } from "./section.js";

const PLACES = { cpu: "On the CPU", cuda: "On the GPU" };

/** Shows the steps in which the filters run: the pixel format of each, and why pictures are converted in between. */
export class PlanSection {
    constructor() {
        /** The plan that is shown, as JSON. */
        this.known = "";
        this.place = make("p", { class: "soft" });
        this.list = make("ol", { class: "plan", "aria-label": "Steps, in their order" });
        this.element = section("How filters run", {}, this.place, this.list);
    }

    /** Shows the camera's plan; nothing if it has no filters. @param {any} camera */
    learn({ plan, filters }) {
        const steps = plan?.steps ?? [];
        this.element.hidden = !steps.length && !(plan && filters.length);
        const known = JSON.stringify(plan);
        if (this.element.hidden || known === this.known) return;
        this.known = known;
        this.place.textContent = steps.length
            ? `${PLACES[plan.backend] ?? plan.backend}, for each frame in this order:`
            : "No filter changes the picture: frames are sent as they are.";
        this.list.hidden = !steps.length;
        this.list.replaceChildren(...steps.map(stepItem));
    }
}

/** Creates the list item of a step. @param {{operation: string, format: string, reason: string}} step */
function stepItem({ operation, format, reason }) {
    return make(
        "li",
        {},
        make("code", {}, operation),
        " ",
        make("span", { class: "soft" }, format),
        reason ? make("p", { class: "soft" }, reason) : null,
    );
}
