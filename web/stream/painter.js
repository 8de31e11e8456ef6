import {CanvasPainter} from './canvas_painter.js';
import {WebGlPainter} from './webgl_painter.js';

/**
 * What paints on this canvas: WebGL 2 where it is there.
 * @param {OffscreenCanvas} canvas
 * @returns {WebGlPainter|CanvasPainter}
 */
export function painterOn(canvas) {
    const gl = canvas.getContext('webgl2', {alpha: false, antialias: false, depth: false, stencil: false});
    return gl ? new WebGlPainter(gl) : new CanvasPainter(canvas);
}
