import { make, makeSvg } from "../dom.js";

// Distance of an arrow key, as a fraction of the picture.
const STEP = 0.01;
const FEWEST_CORNERS = 3;
export const MOST_CORNERS = 64;

const within = (value) => Math.min(Math.max(value, 0), 1);
// Four decimals are a fraction of a pixel, and keep requests short.
const rounded = ([x, y]) => [x, y].map((value) => Math.round(within(value) * 10_000) / 10_000);

/** Returns the points of a zone, which is a polygon or a line. @returns {[number, number][]} */
export const pointsOf = (zone) => zone.polygon ?? zone.line;

/**
 * Named polygons and lines over the picture, which the user draws corner by corner, and whose corners are moved by pointer
 * or keys. Edits its owner's zones, in fractions of the picture, and reports changes.
 */
export class EventZoneLayer {
    /**
     * @param {{zones: any[], changed: (isOver: boolean) => void, drawn: (kind: "polygon" | "line", points:
     *     [number, number][]) => void, drawing: (isDrawing: boolean) => void}} owner
     */
    constructor(owner) {
        this.owner = owner;
        this.shapes = makeSvg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" });
        this.corners = make("div", { class: "event-corners" });
        this.element = make(
            "div",
            { class: "event-zone-layer", role: "group", "aria-label": "Polygons and lines on the picture", tabindex: -1 },
            this.shapes,
            this.corners,
        );
        /** Kind of the zone that is being drawn, or null. @type {"polygon" | "line" | null} */
        this.kind = null;
        /** Its corners so far. @type {[number, number][]} */
        this.draft = [];
        this.drag = null;
        this.element.addEventListener("pointerdown", (event) => this.begin(event));
        this.element.addEventListener("pointermove", (event) => this.go(event));
        this.element.addEventListener("pointerup", () => this.end());
        this.element.addEventListener("pointercancel", () => this.end());
        this.element.addEventListener("dblclick", () => this.close());
        this.element.addEventListener("keydown", (event) => {
            if (!this.kind || !["Enter", "Escape"].includes(event.key)) return;
            event.preventDefault();
            event.stopPropagation();
            if (event.key === "Enter") this.close();
            else this.cancel();
        });
    }

    /** Starts to draw a zone of this kind. */
    draw(kind) {
        this.kind = kind;
        this.draft = [];
        this.owner.drawing(true);
        this.show();
        this.element.focus();
    }

    /** Completes the zone that is being drawn, if it has enough corners. */
    close() {
        const kind = this.kind;
        // A double click adds its corner twice.
        const points = this.draft.filter((point, index) => index === 0 || String(point) !== String(this.draft[index - 1]));
        if (!kind || points.length < (kind === "line" ? 2 : FEWEST_CORNERS)) return;
        this.cancel();
        this.owner.drawn(kind, points);
    }

    /** Forgets the zone that is being drawn. */
    cancel() {
        this.kind = null;
        this.draft = [];
        this.owner.drawing(false);
        this.show();
    }

    /** Shows the owner's zones and the one that is being drawn. */
    show() {
        this.shapes.replaceChildren(
            ...this.owner.zones.map((zone) => shape(zone.polygon ? "polygon" : "line", pointsOf(zone))),
            ...(this.draft.length > 0 ? [shape("line", this.draft, "draft")] : []),
        );
        const wanted = this.owner.zones.flatMap((zone, index) => pointsOf(zone).map((point, corner) => ({ index, corner, point })));
        while (this.corners.childElementCount > wanted.length) this.corners.lastChild.remove();
        while (this.corners.childElementCount < wanted.length) this.corners.append(this.handle());
        wanted.forEach(({ index, corner, point }, at) => {
            const handle = /** @type {HTMLElement} */ (this.corners.children[at]);
            const zone = this.owner.zones[index];
            handle.dataset.zone = String(index);
            handle.dataset.corner = String(corner);
            handle.style.left = `${point[0] * 100}%`;
            handle.style.top = `${point[1] * 100}%`;
            handle.setAttribute(
                "aria-label",
                `${zone.name}, corner ${corner + 1}, at ${Math.round(point[0] * 100)}, ${Math.round(point[1] * 100)} percent. ` +
                    `Arrow keys move it${zone.polygon ? ", Enter adds one after it, Delete removes it" : ""}.`,
            );
        });
    }

    /** Creates the element of a corner. */
    handle() {
        const handle = make("button", { class: "event-corner", type: "button" });
        handle.addEventListener("keydown", (event) => this.key(event, handle));
        return handle;
    }

    /** Returns the zone and the index of the corner that an element shows. */
    shownBy(handle) {
        return { zone: this.owner.zones[Number(handle.dataset.zone)], corner: Number(handle.dataset.corner) };
    }

    /** Focuses a corner. */
    focus(index, corner) {
        /** @type {HTMLElement | null} */ (this.corners.querySelector(`[data-zone="${index}"][data-corner="${corner}"]`))?.focus();
    }

    /** Converts an event's position to fractions of the picture. @returns {[number, number]} */
    at(event) {
        const box = this.element.getBoundingClientRect();
        return /** @type {[number, number]} */ (rounded([(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]));
    }

    /** Adds a corner to the zone that is being drawn, or starts to move a corner. */
    begin(event) {
        if (event.button !== 0) return;
        if (this.kind) {
            event.preventDefault();
            this.element.focus();
            if (this.draft.length < MOST_CORNERS) this.draft.push(this.at(event));
            if (this.kind === "line" && this.draft.length === 2) this.close();
            else this.show();
            return;
        }
        const handle = event.target.closest(".event-corner");
        if (!handle) return;
        event.preventDefault();
        handle.focus();
        this.drag = { ...this.shownBy(handle), moved: false };
        this.element.setPointerCapture(event.pointerId);
    }

    /** Follows the pointer. */
    go(event) {
        if (!this.drag) return;
        pointsOf(this.drag.zone)[this.drag.corner] = this.at(event);
        this.drag.moved = true;
        this.show();
        this.owner.changed(false);
    }

    /** Ends the drag and reports the change. */
    end() {
        const moved = this.drag?.moved;
        this.drag = null;
        if (moved) this.owner.changed(true);
    }

    /** Moves, adds or removes a corner by keys. */
    key(event, handle) {
        if (this.kind) return;
        const { zone, corner } = this.shownBy(handle);
        const points = pointsOf(zone);
        const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        let next = corner;
        if (by) {
            points[corner] = /** @type {[number, number]} */ (rounded(points[corner].map((value, axis) => value + by[axis] * STEP)));
        } else if (zone.polygon && event.key === "Enter" && points.length < MOST_CORNERS) {
            const after = points[(corner + 1) % points.length];
            next = corner + 1;
            points.splice(next, 0, /** @type {[number, number]} */ (rounded(after.map((value, axis) => (value + points[corner][axis]) / 2))));
        } else if (zone.polygon && ["Delete", "Backspace"].includes(event.key) && points.length > FEWEST_CORNERS) {
            points.splice(corner, 1);
            next = Math.min(corner, points.length - 1);
        } else return;
        event.preventDefault();
        this.show();
        this.focus(this.owner.zones.indexOf(zone), next);
        this.owner.changed(true);
    }
}

/** Creates the shape of a zone. */
export function shape(kind, points, more = "") {
    const text = points.map((point) => point.join(",")).join(" ");
    return makeSvg(kind === "line" ? "polyline" : "polygon", { class: `event-zone ${more}`, points: text });
}
