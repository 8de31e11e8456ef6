import { drawMarks, rgbaOf } from "./pixels.js";

/** Paints R on a 2-D canvas context, without WebGL. */
export class CanvasPainter {
    #context;
    #shape = { width: 0, height: 0, channels: 3 };
    #marked = false;  // the canvas shows marks

    /** @param {OffscreenCanvas} canvas */
    constructor(canvas) {
        this.#context = canvas.getContext("2d", { alpha: false });
    }

    /** Sets the size of the pictures that follow. @param {{width: number, height: number, channels: number}} shape */
    resize(shape) {
        this.#shape = shape;
        this.#context.canvas.width = shape.width;
        this.#context.canvas.height = shape.height;
    }

    /**
     * Paints the areas, or the whole picture if marks are drawn.
     * @param {Uint8Array} picture
     * @param {{x: number, y: number, width: number, height: number}[]} areas which contain all changes of the picture
     * @param {Uint8Array|null} marks
     * @param {"picture"|"changes"|"heat"} view
     */
    paint(picture, areas, marks, view) {
        // Marks can be anywhere, and the pixels under earlier marks have to be restored.
        const pieces = marks || this.#marked ? [{ x: 0, y: 0, ...this.#shape }] : areas;
        this.#marked = marks !== null;
        for (const area of pieces) {
            const rgba = rgbaOf(picture, this.#shape, area);
            if (marks) drawMarks(rgba, marks, view);
            this.#context.putImageData(new ImageData(rgba, area.width, area.height), area.x, area.y);
        }
    }
}
