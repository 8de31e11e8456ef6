import { freshId, make } from "../dom.js";
import { icon } from "../parts/icons.js";
import { formatFilter } from "./chain_text.js";
import { parameterField } from "./parameter_field.js";

/** One filter in the list of a `ChainEditor`, to which it reports its events. */
export class FilterItem {
    /**
     * @param {import("./chain_text.js").FilterItem} item
     * @param {any[]} filters
     * @param {{changed: () => void, switched: (one: FilterItem, on: boolean) => void, removed: (one: FilterItem) =>
     *     void, moved: (one: FilterItem, by: number) => void, dragged: (one: FilterItem, y: number) => void, dropped:
     *     () => void}} list
     */
    constructor(item, filters, list) {
        this.item = item;
        this.filters = filters;
        this.list = list;
        const filter = filters.find((one) => one.name === item.name);
        const id = freshId("filter");

        this.grip = make("button", { class: "button plain square grip", type: "button" }, icon("grip"));
        this.values = make("code", { class: "soft" });
        this.opener = make(
            "button",
            { class: "filter-name", type: "button", "aria-expanded": "false", "aria-controls": id, onclick: () => this.open(this.body.hidden) },
            make("span", {}, item.name),
            this.values,
        );
        this.toggle = make("input", {
            type: "checkbox",
            role: "switch",
            class: "switch",
            checked: item.on,
            "aria-label": `${item.name} on`,
            onchange: () => list.switched(this, this.toggle.checked),
        });
        this.body = make(
            "div",
            { class: "filter-body", id, hidden: true },
            make("p", { class: "soft" }, filter.summary),
            ...filter.parameters.map((parameter) =>
                parameterField(parameter, item.values[parameter.name], (values) => {
                    if (values) item.values[parameter.name] = values;
                    else delete item.values[parameter.name];
                    this.describe();
                    list.changed();
                }),
            ),
        );
        this.element = make(
            "li",
            { class: "filter" },
            make(
                "div",
                { class: "filter-head" },
                this.grip,
                this.opener,
                this.toggle,
                make(
                    "button",
                    {
                        class: "button plain square",
                        type: "button",
                        "aria-label": `Remove ${item.name}`,
                        title: "Remove",
                        onclick: () => list.removed(this),
                    },
                    icon("remove"),
                ),
            ),
            this.body,
        );
        this.makeMovable();
        this.describe();
    }

    /** Expands or collapses the parameters. */
    open(opened) {
        this.body.hidden = !opened;
        this.opener.setAttribute("aria-expanded", String(opened));
    }

    /** Shows the values as text beside the name. */
    describe() {
        const text = formatFilter(this.item, this.filters);
        this.values.textContent = text.slice(this.item.name.length + 1);
    }

    /**
     * Updates the label with the filter's position.
     * @param {number} at from 0
     * @param {number} count number of filters in the chain
     */
    number(at, count) {
        this.grip.setAttribute("aria-label", `Move ${this.item.name}, ${at + 1} of ${count}, by arrow keys up and down`);
        this.grip.title = "Drag, or arrow keys";
    }

    /**
     * Shows whether the filter is on.
     * @param {boolean} on
     * @param {string | null | undefined} fixed why the filter cannot be switched
     */
    showSwitch(on, fixed) {
        this.item.on = on;
        this.toggle.checked = on;
        this.toggle.disabled = Boolean(fixed);
        this.toggle.title = fixed || (on ? "On" : "Off");
        this.element.classList.toggle("off", !on);
    }

    /** Makes the filter movable by arrow keys and by dragging. */
    makeMovable() {
        this.grip.addEventListener("keydown", (event) => {
            const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!by) return;
            event.preventDefault();
            this.list.moved(this, by);
            this.grip.focus();
        });
        this.grip.addEventListener("pointerdown", (event) => {
            if (event.button !== 0) return;
            this.grip.setPointerCapture(event.pointerId);
            this.element.classList.add("dragged");
        });
        this.grip.addEventListener("pointermove", (event) => {
            if (this.grip.hasPointerCapture(event.pointerId)) this.list.dragged(this, event.clientY);
        });
        this.grip.addEventListener("lostpointercapture", () => {
            this.element.classList.remove("dragged");
            this.list.dropped();
        });
    }
}
