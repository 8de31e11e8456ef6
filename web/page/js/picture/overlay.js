import { makeSvg } from "../dom.js";

/** Kinds of zones: two kinds of privacy masks, and areas for detection. */
export const ZONE_KINDS = ["privacy", "mosaic", "detect"];

/** Layer over a picture, in the picture's pixels: boxes of moving objects, and zones. */
export class Overlay {
    constructor() {
        this.boxes = makeSvg("g", { class: "boxes" });
        this.tracks = makeSvg("g", { class: "tracks" });
        this.zones = makeSvg("g", { class: "zones" });
        this.eventZones = makeSvg("g", { class: "event-zones" });
        this.element = makeSvg(
            "svg",
            { class: "overlay", preserveAspectRatio: "none", "aria-hidden": "true" },
            this.zones,
            this.eventZones,
            this.boxes,
            this.tracks,
        );
        this.size = [1, 1];
        this.setSize(1, 1);
    }

    /** Sets the size of the picture. */
    setSize(width, height) {
        this.size = [width, height];
        this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    }

    /**
     * Shows the boxes of objects.
     * @param {{id: number, x: number, y: number, width: number, height: number}[]} objects
     */
    showBoxes(objects) {
        while (this.boxes.childElementCount > objects.length) this.boxes.lastChild.remove();
        while (this.boxes.childElementCount < objects.length) this.boxes.append(makeSvg("rect", { rx: 2 }));
        objects.forEach((object, index) => place(this.boxes.children[index], object));
    }

    /**
     * Shows the numbers of tracks at the upper left corners of their boxes, and where the objects were.
     * @param {{track: number, box: number[], trail: [number, number][]}[]} tracks
     */
    showTracks(tracks) {
        const height = this.size[1] / 24;
        this.tracks.replaceChildren(
            ...tracks.flatMap(({ track, box: [x, y], trail }) => [
                makeSvg("polyline", { class: "trail", points: trail.map((point) => point.join(",")).join(" ") }),
                // A number that would be above the picture is inside its box.
                makeSvg("text", { x, y: y < height ? y + height : y - height / 4, "font-size": height }, String(track)),
            ]),
        );
    }

    /**
     * Shows zones.
     * @param {any[]} zones in pixels of the source
     * @param {[number, number]} sourceSize size of the source, which is scaled to the picture
     */
    showZones(zones, sourceSize) {
        const [sx, sy] = [this.size[0] / sourceSize[0], this.size[1] / sourceSize[1]];
        this.zones.replaceChildren(
            ...zones.map((zone) =>
                place(makeSvg("rect", { class: `zone ${zone.kind}` }), {
                    x: zone.x * sx,
                    y: zone.y * sy,
                    width: zone.width * sx,
                    height: zone.height * sy,
                }),
            ),
        );
    }

    /**
     * Shows polygons and lines.
     * @param {any[]} zones in fractions of the picture
     */
    showEventZones(zones) {
        const [width, height] = this.size;
        const text = (points) => points.map(([x, y]) => `${x * width},${y * height}`).join(" ");
        this.eventZones.replaceChildren(
            ...zones.map(({ polygon, line }) =>
                makeSvg(polygon ? "polygon" : "polyline", { class: "event-zone", points: text(polygon ?? line) }),
            ),
        );
    }

    /** Shows or hides the boxes or all zones. */
    show(what, shown) {
        this[what].style.display = shown ? "" : "none";
        if (what === "boxes") this.tracks.style.display = this.boxes.style.display;
        if (what === "zones") this.eventZones.style.display = this.zones.style.display;
    }
}

/** Sets the position and size of a rectangle. */
function place(rectangle, { x, y, width, height }) {
    for (const [name, value] of Object.entries({ x, y, width, height })) rectangle.setAttribute(name, String(value));
    return rectangle;
}
