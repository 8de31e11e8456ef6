import { StreamError } from "./decoder.js";

const vertexShader = `#version 300 es
void main() {
    // One triangle that covers everything.
    gl_Position = vec4(vec2(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1), 0, 1);
}`;

const views = { picture: 0, changes: 1, heat: 2 };

// Uses the same colours as pixels.js, which paints without WebGL.
const fragmentShader = `#version 300 es
precision highp float;
uniform highp sampler2D picture, marks;
uniform bool gray;
uniform int view;
out vec4 colour;
void main() {
    ivec2 at = ivec2(gl_FragCoord.x, float(textureSize(picture, 0).y) - gl_FragCoord.y);
    vec4 held = texelFetch(picture, at, 0);
    colour = vec4(gray ? held.rrr : held.bgr, 1);
    if (view == 0) return;
    float mark = texelFetch(marks, at, 0).r;
    float angle = 3.14159265 * mark;
    if (view == 2) colour.rgb = max(vec3(-cos(angle), sin(angle), cos(angle)), 0.0);
    else if (mark > 0.0) colour.rgb = vec3(1, 0, 0);
}`;

/** Paints R with WebGL 2. Only changed areas are uploaded to its texture. */
export class WebGlPainter {
    #gl;
    #shape = { width: 0, height: 0, channels: 3 };
    #uniforms = {};
    #fresh = true;

    /** Prepares the context, also after it was lost and restored. @param {WebGL2RenderingContext} gl */
    constructor(gl) {
        this.#gl = gl;
        this.#prepare();
        gl.canvas.addEventListener("webglcontextlost", event => event.preventDefault());
        gl.canvas.addEventListener("webglcontextrestored", () => {
            this.#prepare();
            this.resize(this.#shape);
        });
    }

    /**
     * Sets the size of the pictures that follow. Throws a StreamError if it exceeds the largest texture.
     * @param {{width: number, height: number, channels: number}} shape
     */
    resize(shape) {
        const gl = this.#gl;
        this.#shape = shape;
        if (shape.width === 0) return;
        const most = gl.getParameter(gl.MAX_TEXTURE_SIZE);
        if (Math.max(shape.width, shape.height) > most)
            throw new StreamError(`its frames are ${shape.width}x${shape.height}; this browser paints up to ${most}x${most}`);
        gl.canvas.width = shape.width;
        gl.canvas.height = shape.height;
        gl.viewport(0, 0, shape.width, shape.height);
        this.#makeTexture(0, shape.channels === 1 ? gl.R8 : gl.RGB8);
        this.#makeTexture(1, gl.R8);
        gl.uniform1i(this.#uniforms.gray, shape.channels === 1 ? 1 : 0);
        this.#fresh = true;
    }

    /**
     * Uploads the areas and paints the picture. Does nothing while the context is lost.
     * @param {Uint8Array} picture
     * @param {{x: number, y: number, width: number, height: number}[]} areas which contain all changes of the picture
     * @param {Uint8Array|null} marks
     * @param {"picture"|"changes"|"heat"} view
     */
    paint(picture, areas, marks, view) {
        const gl = this.#gl, { width, channels } = this.#shape;
        if (gl.isContextLost()) return;
        const whole = [{ x: 0, y: 0, ...this.#shape }];
        gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
        gl.pixelStorei(gl.UNPACK_ROW_LENGTH, width);
        this.#upload(0, channels === 1 ? gl.RED : gl.RGB, channels, picture, this.#fresh ? whole : areas);
        if (marks) this.#upload(1, gl.RED, 1, marks, whole);
        this.#fresh = false;
        gl.uniform1i(this.#uniforms.view, marks ? views[view] : views.picture);
        gl.drawArrays(gl.TRIANGLES, 0, 3);
    }

    // Copies areas of a picture to a texture. Offsets into the picture select the areas, so the CPU copies nothing.
    #upload(unit, format, channels, bytes, areas) {
        const gl = this.#gl;
        gl.activeTexture(gl.TEXTURE0 + unit);
        for (const { x, y, width, height } of areas)
            gl.texSubImage2D(gl.TEXTURE_2D, 0, x, y, width, height, format, gl.UNSIGNED_BYTE, bytes,
                             (y * this.#shape.width + x) * channels);
    }

    // Texture storage is immutable, so each size needs new textures.
    #makeTexture(unit, format) {
        const gl = this.#gl;
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.deleteTexture(gl.getParameter(gl.TEXTURE_BINDING_2D));
        gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
        gl.texStorage2D(gl.TEXTURE_2D, 1, format, this.#shape.width, this.#shape.height);
    }

    // Compiles the shaders and looks up their uniforms.
    #prepare() {
        const gl = this.#gl, program = gl.createProgram();
        for (const [type, text] of [[gl.VERTEX_SHADER, vertexShader], [gl.FRAGMENT_SHADER, fragmentShader]]) {
            const shader = gl.createShader(type);
            gl.shaderSource(shader, text);
            gl.compileShader(shader);
            gl.attachShader(program, shader);
        }
        gl.linkProgram(program);
        if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
            throw new Error(`the shaders do not link: ${gl.getProgramInfoLog(program)}`);
        gl.useProgram(program);
        for (const name of ["picture", "marks", "gray", "view"])
            this.#uniforms[name] = gl.getUniformLocation(program, name);
        gl.uniform1i(this.#uniforms.marks, 1);
    }
}
