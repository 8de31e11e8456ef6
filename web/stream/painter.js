import { CanvasPainter } from "./canvas_painter.js";
import { WebGlPainter } from "./webgl_painter.js";

/**
 * Whether there is a GPU behind WebGL, as far as it tells. Without one, a browser takes 50 ms for a picture of 1920x1080
 * by WebGL, and 5 ms for what is new of it on a plain canvas.
 */
function hasGpu() {
    const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
    const told = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = told ? gl.getParameter(told.UNMASKED_RENDERER_WEBGL) : "";
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return gl !== null && !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/**
 * What paints on this canvas: WebGL 2 where a GPU does it.
 * @param {OffscreenCanvas} canvas
 * @param {"gpu"|"any"} webGl `any`: WebGL without a GPU, too
 * @returns {WebGlPainter|CanvasPainter}
 */
export function painterOn(canvas, webGl) {
    const options = { alpha: false, antialias: false, depth: false, stencil: false };
    const gl = webGl === "any" || hasGpu() ? canvas.getContext("webgl2", options) : null;
    return gl ? new WebGlPainter(gl) : new CanvasPainter(canvas);
}
