import { freshId, make } from "../dom.js";
import { announce } from "../parts/announce.js";
import { icon } from "../parts/icons.js";
import { api } from "../server/api.js";
import { ControlRequests } from "../server/control_requests.js";
import { chooseFilter } from "./add_filter.js";
import { formatChain, parseChain } from "./chain_text.js";
import { FilterItem } from "./filter_item.js";
import { RefusalLine, section } from "./section.js";

/** Edits the filter chain, as a list whose changes are applied at once, and as text. */
export class ChainEditor {
    /** @param {any} camera @param {(camera: any) => void} learned receives the camera's settings after a request */
    constructor(camera, learned) {
        this.name = camera.name;
        this.learned = learned;
        /** @type {any[]} */
        this.filters = [];
        /** @type {FilterItem[]} */
        this.items = [];
        /** The server's text that the list was created from; null to create the list again. @type {string | null} */
        this.known = null;
        this.refusal = new RefusalLine();
        this.requests = new ControlRequests((chain) => api.setChain(this.name, chain), {
            done: (answer) => {
                // After a change of the text the list is created again.
                if (this.known !== null) this.known = answer.chain;
                this.learned(answer);
            },
            refused: (text) => {
                this.refusal.tell(text);
                this.back.hidden = !text;
            },
        });
        this.switches = new ControlRequests((asked) => api.setControls(this.name, asked), {
            done: (answer) => this.learned(answer),
            refused: this.refusal.tell,
        });
        this.list = make("ol", { class: "chain", "aria-label": "Filters, in their order" });
        this.none = make("p", { class: "soft" }, "No filter: the picture is sent unchanged.");
        this.back = make("button", { class: "button", type: "button", hidden: true, onclick: () => this.goBack() }, "Back to what the server has");
        this.add = make(
            "button",
            { class: "button", type: "button", onclick: () => chooseFilter(this.filters, (filter) => this.append(filter)) },
            icon("plus"),
            "Add filter",
        );
        this.element = section(
            "Filters",
            { open: true, class: "filters" },
            this.none,
            this.list,
            this.refusal.element,
            make("div", { class: "row" }, this.add, this.back),
            this.asText(),
        );
        api.filters().then(
            (filters) => {
                this.filters = filters;
                if (this.camera) this.rebuild(this.camera);
            },
            (refusal) => this.refusal.tell(refusal.message),
        );
    }

    /** Creates the text editor. */
    asText() {
        const id = freshId("chain");
        this.text = make("textarea", { id, rows: 2, spellcheck: "false", autocapitalize: "off" });
        const apply = () => {
            this.known = null;
            this.requests.request(this.text.value);
        };
        return make(
            "details",
            { class: "as-text" },
            make("summary", {}, "As text"),
            make("label", { for: id, class: "unseen" }, "The chain as text"),
            this.text,
            make("button", { class: "button", type: "button", onclick: apply }, "Apply"),
        );
    }

    /** Shows the camera's settings, unless a request is pending. @param {any} camera */
    learn(camera) {
        this.camera = camera;
        if (this.requests.pending || this.switches.pending || !this.filters.length) return;
        if (camera.chain !== this.known && this.back.hidden) this.rebuild(camera);
        this.showSwitches(camera);
    }

    /** Creates the list from the server's text. Filters that were open stay open. */
    rebuild(camera) {
        this.known = camera.chain;
        this.text.value = camera.chain;
        const opened = new Set(this.items.filter((one) => !one.body.hidden).map((one) => one.item.name));
        try {
            this.items = parseChain(camera.chain, this.filters).map((item) => this.itemOf(item));
        } catch (error) {
            this.items = [];
            this.refusal.tell(`${error.message} Change the chain as text.`);
        }
        for (const one of this.items) one.open(opened.has(one.item.name));
        this.arrange();
        this.showSwitches(camera);
    }

    /** Creates a list item that reports its changes here. */
    itemOf(item) {
        return new FilterItem(item, this.filters, {
            changed: () => this.apply(),
            switched: (one, on) => this.switch(one, on),
            removed: (one) => this.remove(one),
            moved: (one, by) => this.move(one, this.items.indexOf(one) + by),
            dragged: (one, y) => this.move(one, this.indexAt(y, one), false),
            dropped: () => this.apply(),
        });
    }

    /** Turns one filter on or off. */
    switch(one, on) {
        const filter = this.items.indexOf(one) + 1;
        this.switches.request({ filter, on }, `filter ${filter}`);
    }

    /** Shows which filters are on. */
    showSwitches(camera) {
        if (camera.filters.length !== this.items.length) return;
        this.items.forEach((one, index) => one.showSwitch(camera.filters[index].on, camera.filters[index].fixed));
    }

    /** Updates the list's elements to match `items`. */
    arrange() {
        const elements = this.items.map((one) => one.element);
        // Only elements in the wrong place are moved, because an element that is removed loses its pointer capture.
        for (const element of [...this.list.children]) if (!elements.includes(element)) element.remove();
        elements.forEach((element, index) => {
            if (this.list.children[index] !== element) this.list.insertBefore(element, this.list.children[index] ?? null);
        });
        this.items.forEach((one, index) => one.number(index, this.items.length));
        this.none.hidden = this.items.length > 0;
    }

    /** Sends the list if it differs from the server's. */
    apply() {
        const text = formatChain(this.items.map((one) => one.item), this.filters);
        this.text.value = text;
        if (text === this.known && this.back.hidden) return;
        this.requests.request(text);
    }

    /** Adds a filter at the end. */
    append(filter) {
        const one = this.itemOf({ name: filter.name, values: {}, on: true });
        this.items.push(one);
        one.open(filter.parameters.length > 0);
        this.arrange();
        this.apply();
        one.opener.focus();
        announce(`${filter.name} added.`);
    }

    /** Removes a filter and moves the focus to its neighbour. */
    remove(one) {
        const at = this.items.indexOf(one);
        this.items.splice(at, 1);
        this.arrange();
        this.apply();
        (this.items[Math.min(at, this.items.length - 1)]?.opener ?? this.add).focus();
        announce(`${one.item.name} removed.`);
    }

    /** Moves a filter to another position. `applied` is false during a drag. */
    move(one, to, applied = true) {
        const from = this.items.indexOf(one);
        if (to < 0 || to >= this.items.length || to === from) return;
        // Moves the other elements around this one, which thereby keeps the focus and the pointer capture.
        this.items.splice(from, 1);
        this.items.splice(to, 0, one);
        const others = this.items.filter((other) => other !== one);
        others.forEach((other, index) => {
            if (index < to) this.list.insertBefore(other.element, one.element);
        });
        for (const other of others.slice(to).reverse()) one.element.after(other.element);
        this.items.forEach((other, index) => other.number(index, this.items.length));
        announce(`${one.item.name} is ${to + 1} of ${this.items.length}.`);
        if (applied) this.apply();
    }

    /** Returns the list position of a pointer that drags `one`. */
    indexAt(y, one) {
        const others = this.items.filter((other) => other !== one);
        const middle = (other) => {
            const { top, height } = other.element.getBoundingClientRect();
            return top + height / 2;
        };
        return others.filter((other) => middle(other) < y).length;
    }

    /** Discards the changes that the server refused. */
    goBack() {
        this.back.hidden = true;
        this.refusal.tell("");
        this.rebuild(this.camera);
        this.add.focus();
    }
}
