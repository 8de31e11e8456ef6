const side = 64;  // side of a block, in pixels

/**
 * Returns rectangles that cover all touched blocks: one per run of blocks in a row of blocks.
 * @param {Uint8Array} touched one byte per block, row by row
 * @param {number} width of the picture, in pixels
 * @param {number} height
 * @returns {{x: number, y: number, width: number, height: number}[]}
 */
export function touchedAreas(touched, width, height) {
    const columns = Math.ceil(width / side), areas = [];
    for (let y = 0, block = 0; y < height; y += side) {
        let begin = -1;
        for (let column = 0; column <= columns; ++column) {
            const is = column < columns && touched[block + column] !== 0;
            if (is && begin < 0) begin = column;
            if (is || begin < 0) continue;
            const x = begin * side;
            areas.push({
                x, y, width: Math.min(column * side, width) - x, height: Math.min(side, height - y)
            });
            begin = -1;
        }
        block += columns;
    }
    return areas;
}
