import { drawMarks, rgbaOf } from "./pixels.js";

/** Paints R on a canvas without WebGL. */
export class CanvasPainter {
    #context;
    #shape = { width: 0, height: 0, channels: 3 };
    #marked = false;  // there are marks on it

    /** @param {OffscreenCanvas} canvas */
    constructor(canvas) {
        this.#context = canvas.getContext("2d", { alpha: false });
    }

    /** @param {{width: number, height: number, channels: number}} shape of what is painted from now on */
    resize(shape) {
        this.#shape = shape;
        this.#context.canvas.width = shape.width;
        this.#context.canvas.height = shape.height;
    }

    /**
     * @param {Uint8Array} picture
     * @param {{x: number, y: number, width: number, height: number}[]} areas what of it is new
     * @param {Uint8Array|null} marks
     * @param {"picture"|"changes"|"heat"} view
     */
    paint(picture, areas, marks, view) {
        // Marks lie everywhere, and what lay under those before is to be seen again.
        const pieces = marks || this.#marked ? [{ x: 0, y: 0, ...this.#shape }] : areas;
        this.#marked = marks !== null;
        for (const area of pieces) {
            const rgba = rgbaOf(picture, this.#shape, area);
            if (marks) drawMarks(rgba, marks, view);
            this.#context.putImageData(new ImageData(rgba, area.width, area.height), area.x, area.y);
        }
    }
}
