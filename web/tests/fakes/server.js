// Serves the page with simulated cameras, for work on the page without a build: node web/tests/fakes/server.js [PORT].
// The tests use the real server.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("../..", import.meta.url));
const filters = JSON.parse(execFileSync(join(web, "../build/dev/framewire"), ["filters", "--json"], { encoding: "utf8" }));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const POLICY =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; " +
    "connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const cameras = ["door", "yard", "hall", "gate"].map((name, index) => ({
    name,
    source: "synth:size=1280x720:fps=30:noise=4:objects=5",
    up: index !== 3,
    may_be_set: index !== 2,
    source_size: [1280, 720],
    size: [1280, 720],
    channels: 3,
    rate: 30,
    mode: "exact",
    threshold: 20,
    threshold_max: 20,
    chain: index ? "" : "gaussian=5,mosaic=16:zone='0,0,200,150',text={fps}",
    filters: index
        ? []
        : ["gaussian=5", "mosaic=16:zone='0,0,200,150'", "text={fps}"].map((text) => ({ text, on: true, fixed: null })),
    plan: {
        backend: "cpu",
        steps: index
            ? []
            : [
                  { operation: "gaussian=5", format: "4:2:0", reason: "" },
                  { operation: "convert", format: "4:2:0 to BGR", reason: "mosaic needs colours" },
                  { operation: "mosaic=16:zone='0,0,200,150'", format: "BGR", reason: "" },
                  { operation: "text={fps}", format: "BGR", reason: "" },
              ],
    },
    controls: { brightness: 0, contrast: 1, saturation: 1, gain: 1 },
    controls_fixed: null,
    zones: index ? [] : [{ kind: "privacy", x: 100, y: 80, width: 300, height: 200 }],
    event_zones: {
        zones: index ? [] : [{ name: "gate", line: [[0.4, 0.2], [0.5, 0.9]], events: ["cross"], directions: ["in", "out"] }],
        hysteresis: 0.1,
    },
    detects: true,
    recording: null,
    stream: `/${name}/stream`,
    command: `framewire serve -i ${name}=synth:size=1280x720:fps=30:noise=4:objects=5 --threshold 20 --controls`,
}));

function order(camera, what, body) {
    if (what === "chain") {
        const bad = body.chain.split(",").find((text) => text && !filters.some(({ name }) => name === text.split("=")[0]));
        if (bad) return [400, { error: { status: 400, text: `filters, column 1: no filter '${bad}'; did you mean 'gray'?` } }];
        camera.chain = body.chain;
        camera.filters = (body.chain.match(/(?:'[^']*'|[^,])+/g) ?? []).map((text) => ({ text, on: true, fixed: null }));
        camera.plan.steps = camera.filters.map(({ text }) => ({ operation: text, format: "BGR", reason: "" }));
    } else if (what === "controls" && "filter" in body) camera.filters[body.filter - 1].on = body.on;
    else if (what === "controls") Object.assign(camera.controls, body);
    else if (what === "threshold") Object.assign(camera, body);
    else if (what === "zones") camera.zones = body.zones;
    else if (what === "event-zones") camera.event_zones = body;
    else if (what === "record") camera.recording = body.on ? { file: "door.fwd", seconds: 1.5, bytes: 1234567 } : null;
    else return [200, { file: "door.png" }];
    return [200, camera];
}

async function answer(request, body) {
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
    const [, name, what] = /^\/api\/cameras\/([^/]*)\/([\w-]+)$/.exec(path) ?? [];
    if (name) return order(cameras.find((camera) => camera.name === name), what, JSON.parse(body));
    if (path === "/api/server") return [200, { name: "framewire", version: "0", token: false, tls: false, recordings: true }];
    if (path === "/api/cameras") return [200, { cameras }];
    if (path === "/api/filters") return [200, filters];
    const files = {
        "/": "page/index.html",
        "/stream/camera_stream.js": "tests/fakes/camera_stream.js",
        "/vendor/uplot.js": "node_modules/uplot/dist/uPlot.esm.js",
        "/vendor/uplot.css": "node_modules/uplot/dist/uPlot.min.css",
    };
    return [200, await readFile(join(web, files[path] ?? join("page", normalize(path)))), extname(files[path] ?? path)];
}

const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const [status, content, ending] = await answer(request, body).catch((error) => [404, { error: { status: 404, text: error.message } }]);
    response.writeHead(status, { "Content-Type": TYPES[ending] ?? "application/json", "Content-Security-Policy": POLICY });
    response.end(Buffer.isBuffer(content) ? content : JSON.stringify(content));
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
