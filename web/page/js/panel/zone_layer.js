import { make } from "../dom.js";

// Distance of an arrow key, and the smallest side of a zone, in pixels of the source.
const STEP_PX = 8;
const LEAST_PX = 4;
const CORNERS = { nw: [-1, -1], ne: [1, -1], sw: [-1, 1], se: [1, 1] };

/**
 * Privacy masks and detection zones over the picture, which the user draws, moves and resizes by pointer or keys. Edits
 * its owner's zones, in pixels of the source, and reports changes.
 */
export class ZoneLayer {
    /**
     * @param {{zones: any[], size: [number, number], kind: () => string, changed: (isOver: boolean) => void, removed:
     *     (index: number) => void}} owner
     */
    constructor(owner) {
        this.owner = owner;
        this.element = make("div", { class: "zone-layer", role: "group", "aria-label": "Zones on the picture" });
        this.element.addEventListener("pointerdown", (event) => this.begin(event));
        this.element.addEventListener("pointermove", (event) => this.go(event));
        this.element.addEventListener("pointerup", () => this.end());
        this.element.addEventListener("pointercancel", () => this.end());
        this.drag = null;
    }

    /** Shows the owner's zones. */
    show() {
        const { zones } = this.owner;
        while (this.element.childElementCount > zones.length) this.element.lastChild.remove();
        while (this.element.childElementCount < zones.length) this.element.append(this.handle());
        zones.forEach((zone, index) => this.place(this.element.children[index], zone, index));
    }

    /** Creates the element of a zone. */
    handle() {
        const corners = Object.keys(CORNERS).map((name) => make("span", { class: `corner ${name}`, "data-corner": name }));
        const handle = make("button", { class: "zone-handle", type: "button" }, ...corners);
        handle.addEventListener("keydown", (event) => this.key(event, [...this.element.children].indexOf(handle)));
        return handle;
    }

    /** Places the element of a zone in percent of the picture. */
    place(handle, zone, index) {
        const [width, height] = this.owner.size;
        handle.style.left = `${(zone.x / width) * 100}%`;
        handle.style.top = `${(zone.y / height) * 100}%`;
        handle.style.width = `${(zone.width / width) * 100}%`;
        handle.style.height = `${(zone.height / height) * 100}%`;
        handle.className = `zone-handle ${zone.kind}`;
        handle.setAttribute(
            "aria-label",
            `Zone ${index + 1}, ${zone.kind}, at ${zone.x}, ${zone.y}, ${zone.width} by ${zone.height}. ` +
                "Arrow keys move it, with Shift they size it, Delete removes it.",
        );
    }

    /** Focuses the element of a zone. */
    focus(index) {
        /** @type {HTMLElement} */ (this.element.children[index])?.focus();
    }

    /** Converts an event's position to pixels of the source. */
    at(event) {
        const box = this.element.getBoundingClientRect();
        const [width, height] = this.owner.size;
        return [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    }

    /** Starts to draw, move or resize a zone. */
    begin(event) {
        if (event.button !== 0) return;
        event.preventDefault();
        const handle = event.target.closest(".zone-handle");
        const [x, y] = this.at(event);
        if (handle) {
            handle.focus();
            const zone = this.owner.zones[[...this.element.children].indexOf(handle)];
            this.drag = { zone, from: [x, y], was: { ...zone }, corner: CORNERS[event.target.dataset.corner] };
        } else {
            const zone = { kind: this.owner.kind(), x, y, width: 0, height: 0 };
            this.drag = { zone, from: [x, y], was: { ...zone }, corner: [1, 1], isNew: true };
        }
        this.element.setPointerCapture(event.pointerId);
    }

    /** Follows the pointer. */
    go(event) {
        if (!this.drag) return;
        const { zone, from, was, corner } = this.drag;
        const [x, y] = this.at(event);
        const by = [x - from[0], y - from[1]];
        Object.assign(zone, corner ? sized(was, corner, by) : { x: was.x + by[0], y: was.y + by[1] });
        if (this.drag.isNew && zone.width >= LEAST_PX && zone.height >= LEAST_PX && !this.owner.zones.includes(zone))
            this.owner.zones.push(zone);
        hold(zone, this.owner.size, !corner);
        this.show();
        this.owner.changed(false);
    }

    /** Ends the drag and reports the change. */
    end() {
        if (!this.drag) return;
        const { zone, was } = this.drag;
        this.drag = null;
        const index = this.owner.zones.indexOf(zone);
        if (index < 0 || JSON.stringify(zone) === JSON.stringify(was)) return;
        this.focus(index);
        this.owner.changed(true);
    }

    /** Moves, resizes or removes a zone by keys. */
    key(event, index) {
        const zone = this.owner.zones[index];
        if (event.key === "Delete" || event.key === "Backspace") {
            event.preventDefault();
            this.owner.removed(index);
            return;
        }
        const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (!by) return;
        event.preventDefault();
        const [dx, dy] = by.map((step) => step * STEP_PX);
        if (event.shiftKey) Object.assign(zone, { width: zone.width + dx, height: zone.height + dy });
        else Object.assign(zone, { x: zone.x + dx, y: zone.y + dy });
        hold(zone, this.owner.size, !event.shiftKey);
        this.show();
        this.owner.changed(true);
    }
}

// Moves one corner of a zone. It may pass the opposite corner; the zone is then mirrored.
function sized(was, [cx, cy], [dx, dy]) {
    const xs = cx < 0 ? [was.x + dx, was.x + was.width] : [was.x, was.x + was.width + dx];
    const ys = cy < 0 ? [was.y + dy, was.y + was.height] : [was.y, was.y + was.height + dy];
    const [left, right] = xs.sort((a, b) => a - b);
    const [top, bottom] = ys.sort((a, b) => a - b);
    return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Rounds a zone to whole pixels inside the source. With `keepsSize` it is moved, otherwise its size is adjusted. */
export function hold(zone, [width, height], keepsSize) {
    const between = (value, least, most) => Math.min(Math.max(value, least), most);
    if (keepsSize) {
        zone.x = Math.round(between(zone.x, 0, width - zone.width));
        zone.y = Math.round(between(zone.y, 0, height - zone.height));
        return;
    }
    const right = between(zone.x + zone.width, LEAST_PX, width);
    const bottom = between(zone.y + zone.height, LEAST_PX, height);
    zone.x = Math.round(between(zone.x, 0, right - LEAST_PX));
    zone.y = Math.round(between(zone.y, 0, bottom - LEAST_PX));
    zone.width = Math.max(Math.round(right) - zone.x, LEAST_PX);
    zone.height = Math.max(Math.round(bottom) - zone.y, LEAST_PX);
}
