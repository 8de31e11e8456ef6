import { make } from "../dom.js";
import { announce } from "../parts/announce.js";
import { icon } from "../parts/icons.js";
import { api } from "../server/api.js";
import { ControlRequests } from "../server/control_requests.js";
import { EventFeed } from "../server/event_feed.js";
import { EventZoneLayer } from "./event_zone_layer.js";
import { RefusalLine, section } from "./section.js";

const EVENTS = { enter: "enters", leave: "leaves", loiter: "stays" };
const USUAL_LOITER_S = 10;
const MOST_SHOWN = 8;

/** Edits the polygons and lines that cause events, and shows the events as they happen, while this section is open. */
export class EventZonesSection {
    /**
     * @param {import("../picture/picture.js").CameraPicture} picture
     * @param {(camera: any) => void} learned receives the camera's settings after a request
     */
    constructor(picture, learned) {
        this.picture = picture;
        /** @type {any[]} */
        this.zones = [];
        this.hysteresis = 0.1;
        this.said = "";
        this.refusal = new RefusalLine();
        this.requests = new ControlRequests((set) => api.setEventZones(picture.camera.name, set), {
            done: (camera) => {
                this.said = JSON.stringify(camera.event_zones);
                learned(camera);
            },
            refused: this.refusal.tell,
        });
        this.layer = new EventZoneLayer(this);
        this.list = make("ul", { class: "event-zone-list", "aria-label": "Polygons and lines" });
        this.happened = make("ol", { class: "happened", "aria-label": "Latest events", "aria-live": "polite" });
        this.hint = make("p", { class: "soft" });
        const button = (words, onclick) => make("button", { class: "button", type: "button", onclick }, icon("plus"), words);
        this.element = section(
            "Events",
            { class: "event-section" },
            this.hint,
            make(
                "div",
                { class: "event-buttons" },
                button("Draw polygon", () => this.layer.draw("polygon")),
                button("Draw line", () => this.layer.draw("line")),
                button("Add polygon", () => this.add("polygon")),
                button("Add line", () => this.add("line")),
            ),
            this.list,
            this.refusal.element,
            make("h3", {}, "Latest events"),
            this.happened,
        );
        this.feed = new EventFeed(picture.camera.name, "zone", (event) => this.tell(event));
        this.element.addEventListener("toggle", () => this.edit(this.element.open));
        this.drawing(false);
    }

    /** Explains what a click does. */
    drawing(isDrawing) {
        this.hint.textContent = isDrawing
            ? "Click to add corners. Enter or a double click completes the shape, Escape drops it."
            : "Draw on the picture, or add a shape and move its corners by the arrow keys.";
        this.layer?.element.classList.toggle("is-drawing", isDrawing);
    }

    /** Starts or ends editing on the picture, and receiving events. */
    edit(isEdited) {
        this.picture.classList.toggle("event-zones-edited", isEdited);
        if (isEdited) {
            this.picture.frame.append(this.layer.element);
            this.feed.open();
        } else {
            this.layer.cancel();
            this.layer.element.remove();
            this.feed.close();
        }
        this.layer.show();
    }

    /** Ends everything when the panel is removed. */
    close() {
        this.edit(false);
    }

    /** Applies the camera's zones, unless a request is pending or a corner is being dragged. */
    learn(camera) {
        this.element.hidden = !camera.detects;
        const said = JSON.stringify(camera.event_zones);
        if (this.requests.pending || this.layer.drag || said === this.said) return;
        this.said = said;
        ({ zones: this.zones, hysteresis: this.hysteresis } = JSON.parse(said));
        this.layer.show();
        this.fillList();
    }

    /** Sends the zones. @param {boolean} isOver false while a drag is in progress */
    changed(isOver) {
        if (isOver) this.requests.request({ zones: this.zones, hysteresis: this.hysteresis });
    }

    /** Adds a zone with these points under a new name. */
    drawn(kind, points) {
        const taken = new Set(this.zones.map((zone) => zone.name));
        let number = 1;
        while (taken.has(`${kind} ${number}`)) ++number;
        const events = kind === "line" ? ["cross"] : ["enter", "leave"];
        this.zones.push({ name: `${kind} ${number}`, [kind]: points, events });
        this.layer.show();
        this.fillList();
        this.layer.focus(this.zones.length - 1, 0);
        this.changed(true);
        announce(`Added ${kind} ${number}.`);
    }

    /** Adds a zone in the middle of the picture. */
    add(kind) {
        const corners = [[0.35, 0.35], [0.65, 0.35], [0.65, 0.65], [0.35, 0.65]];
        this.drawn(kind, /** @type {any} */ (kind === "line" ? [[0.5, 0.25], [0.5, 0.75]] : corners));
    }

    /** Creates the list again and restores the focus. */
    fillList() {
        const focused = [...this.list.querySelectorAll("input")].indexOf(/** @type {any} */ (document.activeElement));
        this.list.replaceChildren(...this.zones.map((zone, index) => this.line(zone, index)));
        /** @type {HTMLElement | undefined} */ ([...this.list.querySelectorAll("input")][focused])?.focus();
    }

    /** Creates the list entry of one zone. */
    line(zone, index) {
        const text = (value, words, set) =>
            make("input", {
                type: "text",
                value,
                maxlength: 64,
                title: words,
                "aria-label": `${zone.name}, ${words}`,
                onchange: ({ target }) => {
                    set(target.value);
                    this.layer.show();
                    this.fillList();
                    this.changed(true);
                },
            });
        return make(
            "li",
            { class: "event-zone-line" },
            text(zone.name, "name", (value) => (zone.name = value)),
            make(
                "button",
                {
                    class: "button plain square",
                    type: "button",
                    "aria-label": `Remove ${zone.name}`,
                    title: "Remove",
                    onclick: () => this.remove(index),
                },
                icon("remove"),
            ),
            zone.polygon ? this.choices(zone) : this.directions(zone, text),
        );
    }

    /** Creates the choice of a polygon's events. */
    choices(zone) {
        const seconds = make("input", {
            type: "number",
            min: 1,
            max: 86_400,
            value: zone.loiter ?? USUAL_LOITER_S,
            disabled: !zone.events.includes("loiter"),
            "aria-label": `${zone.name}, seconds inside`,
            onchange: ({ target }) => {
                zone.loiter = Number(target.value);
                this.changed(true);
            },
        });
        const choice = (event) =>
            make(
                "label",
                {},
                make("input", {
                    type: "checkbox",
                    checked: zone.events.includes(event),
                    "aria-label": `${zone.name}, ${EVENTS[event]}`,
                    onchange: ({ target }) => {
                        const others = zone.events.filter((one) => one !== event);
                        // A zone needs an event.
                        if (!target.checked && others.length === 0) return void (target.checked = true);
                        zone.events = target.checked ? [...others, event] : others;
                        if (zone.events.includes("loiter")) zone.loiter ??= USUAL_LOITER_S;
                        else delete zone.loiter;
                        this.fillList();
                        this.changed(true);
                    },
                }),
                EVENTS[event],
            );
        return make("div", { class: "event-choices" }, ...Object.keys(EVENTS).map(choice), make("label", {}, seconds, "s"));
    }

    /** Creates the fields with the names of a line's directions. */
    directions(zone, text) {
        const names = zone.directions ?? ["right", "left"];
        const field = (at, words) =>
            text(names[at], words, (value) => {
                zone.directions = names.with ? names.with(at, value) : names.map((name, index) => (index === at ? value : name));
            });
        return make("div", { class: "event-choices" }, field(0, "crossed to the right"), field(1, "crossed to the left"));
    }

    /** Removes a zone. */
    remove(index) {
        const [{ name }] = this.zones.splice(index, 1);
        this.layer.show();
        this.fillList();
        this.changed(true);
        announce(`Removed ${name}.`);
    }

    /** Shows an event, and lets its zone flash. */
    tell(event) {
        const words = {
            enter: "enter",
            leave: `leave after ${event.seconds} s`,
            loiter: `stay for ${event.seconds} s`,
            cross: `cross to ${event.direction}`,
        }[event.event];
        const time = make("time", { datetime: event.time }, new Date(event.time).toLocaleTimeString());
        this.happened.prepend(make("li", {}, time, make("strong", {}, event.zone), `${words} (object ${event.track})`));
        while (this.happened.childElementCount > MOST_SHOWN) this.happened.lastChild.remove();
        const at = this.zones.findIndex((zone) => zone.name === event.zone);
        const shown = this.layer.shapes.children[at];
        if (at < 0 || !shown) return;
        shown.classList.remove("flash");
        // Reading the layout restarts the animation.
        shown.getBoundingClientRect();
        shown.classList.add("flash");
    }
}
