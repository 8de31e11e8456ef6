import { CanvasPainter } from "./canvas_painter.js";
import { WebGlPainter } from "./webgl_painter.js";

/**
 * Returns true if WebGL runs on a GPU, as far as the browser reveals it. Without a GPU a 1920x1080 picture takes 50 ms
 * with WebGL, and 5 ms on a 2-D context that repaints only changed areas.
 */
function hasGpu() {
    const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
    const reported = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = reported ? gl.getParameter(reported.UNMASKED_RENDERER_WEBGL) : "";
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return gl !== null && !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/**
 * Returns a painter for the canvas: WebGL 2 if a GPU runs it, otherwise a 2-D context.
 * @param {OffscreenCanvas} canvas
 * @param {"gpu"|"any"} webGl `any`: use WebGL without a GPU, too
 * @returns {WebGlPainter|CanvasPainter}
 */
export function painterOn(canvas, webGl) {
    const options = { alpha: false, antialias: false, depth: false, stencil: false };
    const gl = webGl === "any" || hasGpu() ? canvas.getContext("webgl2", options) : null;
    return gl ? new WebGlPainter(gl) : new CanvasPainter(canvas);
}
