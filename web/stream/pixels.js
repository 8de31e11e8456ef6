/**
 * Converts an area of R to the format of canvases: R, G, B, opaque.
 * @param {Uint8Array} picture rows without gaps
 * @param {{width: number, channels: number}} shape of the picture
 * @param {{x: number, y: number, width: number, height: number}} area
 * @returns {Uint8ClampedArray}
 */
export function rgbaOf(picture, shape, area) {
    // Writes whole pixels, in the byte order of little-endian machines, which WebAssembly memory has as well.
    const out = new Uint32Array(area.width * area.height), { channels } = shape;
    const red = channels === 1 ? 0 : 2, green = channels === 1 ? 0 : 1;
    let to = 0;
    for (let y = area.y; y < area.y + area.height; ++y) {
        let from = (y * shape.width + area.x) * channels;
        for (let x = 0; x < area.width; ++x, from += channels)
            out[to++] = 0xff000000 | picture[from] << 16 | picture[from + green] << 8 | picture[from + red];
    }
    return new Uint8ClampedArray(out.buffer);
}

/**
 * Draws the changes over the pixels of a whole picture: in red, or coloured by size like the filter `heatmap`.
 * @param {Uint8ClampedArray} rgba modified in place
 * @param {Uint8Array} marks how much each pixel changed
 * @param {"changes"|"heat"} view
 */
export function drawMarks(rgba, marks, view) {
    for (let i = 0, to = 0; i < marks.length; ++i, to += 4) {
        if (view === "heat") {
            const angle = Math.PI * marks[i] / 255;
            rgba[to] = -255 * Math.cos(angle);
            rgba[to + 1] = 255 * Math.sin(angle);
            rgba[to + 2] = 255 * Math.cos(angle);
        } else if (marks[i]) {
            rgba[to] = 255;
            rgba[to + 1] = rgba[to + 2] = 0;
        }
    }
}
