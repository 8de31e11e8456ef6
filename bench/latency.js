// Measures how old a picture is when a viewer shows it: the time from writing a frame to `framewire serve` to its number being
// readable in the viewer, on this machine, over loopback. Each frame shows its number as twelve black or white squares. Browsers are
// measured in Debian's Chromium, when the script has drawn the picture; other players by ffmpeg, when it writes the decoded picture.
//
//     npm ci --prefix web && node bench/latency.js [--program build/dev/framewire] [--size 1280x720] [--seconds 20] [ROUTE...]

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { chromium } from "../web/node_modules/playwright-core/index.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: {
        program: { type: "string", default: join(root, "build/dev/framewire") },
        size: { type: "string", default: "1280x720" },
        seconds: { type: "string", default: "20" },
    },
});
const [width, height] = options.size.split("x").map(Number);
const fps = 30, bits = 12, square = 32, warmUpMs = 3000;

/** Writes frames to the server and remembers when. */
class Camera {
    #written = new Map();
    #number = 0;

    constructor(stream) {
        this.stream = stream;
        stream.write(`YUV4MPEG2 W${width} H${height} F${fps}:1 Ip C420jpeg\n`);
        // Eight frames of noise on a gradient, as of a cheap camera.
        this.frames = Array.from({ length: 8 }, () => {
            const frame = Buffer.alloc(width * height * 3 / 2, 128);
            for (let y = 0; y < height; ++y)
                for (let x = 0; x < width; ++x) frame[y * width + x] = 60 + 120 * x / width + 12 * Math.random();
            return frame;
        });
        const begin = performance.now();
        let count = 0;
        this.timer = setInterval(() => {
            while (count < (performance.now() - begin) * fps / 1000) ++count, this.#write();
        }, 2);
    }

    #write() {
        if (this.stream.writableNeedDrain) return;  // the server takes a frame only when it is ready for it
        const number = this.#number = (this.#number + 1) % 2 ** bits;
        const frame = Buffer.from(this.frames[number % this.frames.length]);
        for (let y = 0; y < square; ++y)
            for (let bit = 0; bit < bits; ++bit)
                frame.fill(number >> bit & 1 ? 235 : 16, y * width + bit * square, y * width + (bit + 1) * square);
        this.#written.set(number, Date.now());
        this.stream.write("FRAME\n");
        this.stream.write(frame);
    }

    stop() { clearInterval(this.timer); }
    /** Returns the age of a picture that was seen at a time, if it was written lately. */
    age(number, seen) {
        const age = seen - (this.#written.get(number) ?? -Infinity);
        return age >= 0 && age < 60_000 ? age : undefined;
    }
}

/** Returns the number in a row of pixels through the middle of the squares. */
function numberIn(row) {
    let number = 0;
    for (let bit = 0; bit < bits; ++bit) number |= (row[bit * square + square / 2] > 128) << bit;
    return number;
}

/** Reads a stream by ffmpeg. Returns [number, time] of each picture. */
async function seenByFfmpeg(input) {
    const player = spawn("ffmpeg", ["-nostdin", "-v", "error", ...input, "-vf", `format=gray,crop=${bits * square}:1:0:${square / 2}`, "-vsync",
        "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-flush_packets", "1", "-"], { stdio: ["ignore", "pipe", "inherit"] });
    const seen = [];
    let rest = Buffer.alloc(0);
    player.stdout.on("data", bytes => {
        rest = Buffer.concat([rest, bytes]);
        for (; rest.length >= bits * square; rest = rest.subarray(bits * square)) seen.push([numberIn(rest), Date.now()]);
    });
    await pause(warmUpMs + 1000 * options.seconds);
    player.kill("SIGKILL");
    return seen;
}

/** Shows a stream in Chromium by `show`, a function in the page that calls `drawn(element)` with what it has drawn. */
async function seenByChromium(base, show) {
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--disable-background-networking"],
    });
    try {
        const page = await browser.newPage();
        page.on("console", message => console.error(message.text()));
        page.on("pageerror", error => console.error(String(error)));
        await page.goto(`${base}/healthz`);
        await page.evaluate(({ bits, square }) => {
            const copy = new OffscreenCanvas(bits * square, 1).getContext("2d", { willReadFrequently: true });
            window.seen = [];
            window.drawn = element => {
                copy.drawImage(element, 0, square / 2, bits * square, 1, 0, 0, bits * square, 1);
                const rgba = copy.getImageData(0, 0, bits * square, 1).data;
                let number = 0;
                for (let bit = 0; bit < bits; ++bit) number |= (rgba[4 * (bit * square + square / 2) + 1] > 128) << bit;
                window.seen.push([number, Date.now()]);
            };
            /** Calls `drawn` with each frame of a <video>. */
            window.watch = video => {
                const next = () => { window.drawn(video); video.requestVideoFrameCallback(next); };
                video.requestVideoFrameCallback(next);
            };
        }, { bits, square });
        await page.evaluate(show);
        await pause(warmUpMs + 1000 * options.seconds);
        return await page.evaluate(() => window.seen);
    } finally {
        await browser.close();
    }
}

const pause = ms => new Promise(done => setTimeout(done, ms));

// In a page: the difference stream as the page draws it, <video> with an address, and WHEP.
async function showStream() {
    const { CameraStream } = await import("/stream/camera_stream.js");
    const canvas = document.body.appendChild(document.createElement("canvas"));
    const stream = new CameraStream({ url: `ws://${location.host}/door/stream`, name: "door", canvas, webGl: "any" });
    stream.addEventListener("frame", () => window.drawn(canvas));
}
const showVideo = path => `{
    const video = document.body.appendChild(document.createElement("video"));
    Object.assign(video, { muted: true, autoplay: true, src: "/door/${path}" });
    video.addEventListener("error", () => console.log(video.error.message));
    watch(video);
}`;
async function showWhep() {
    const video = document.body.appendChild(document.createElement("video"));
    Object.assign(video, { muted: true, autoplay: true });
    const peer = window.peer = new RTCPeerConnection();
    peer.addTransceiver("video", { direction: "recvonly" });
    peer.ontrack = ({ track }) => { video.srcObject = new MediaStream([track]); };
    await peer.setLocalDescription();
    const answer = await fetch("/door/whep",
        { method: "POST", body: peer.localDescription.sdp, headers: { "Content-Type": "application/sdp" } });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    window.watch(video);
}

const fast = ["-fflags", "nobuffer"], fastest = [...fast, "-flags", "low_delay", "-probesize", "32"];
const routes = {
    "page": base => seenByChromium(base, showStream),
    "whep": base => seenByChromium(base, showWhep),
    "rtsp": (base, rtsp) => seenByFfmpeg([...fast, "-rtsp_transport", "tcp", "-i", `${rtsp}/door`]),
    "rtsp-low-delay": (base, rtsp) => seenByFfmpeg([...fast, "-flags", "low_delay", "-rtsp_transport", "tcp", "-i", `${rtsp}/door`]),
    "mjpeg": base => seenByFfmpeg([...fastest, "-f", "mpjpeg", "-i", `${base}/door/stream.mjpeg`]),
    "mp4-ffmpeg": base => seenByFfmpeg([...fast, "-flags", "low_delay", "-i", `${base}/door/stream.mp4`]),
    "mp4-video": base => seenByChromium(base, showVideo("stream.mp4")),
    "hls-video": base => seenByChromium(base, showVideo("index.m3u8")),
};

const server = spawn(options.program, ["serve", "-i", "door=-", "--listen", "127.0.0.1:0", "--video", "true", "--rtsp", "127.0.0.1:0"],
    { stdio: ["pipe", "ignore", "pipe"] });
try {
    let said = "";
    const camera = new Camera(server.stdin);
    server.stdin.on("error", () => camera.stop());
    await new Promise((ready, failed) => {
        server.on("exit", () => failed(new Error(said)));
        server.stderr.on("data", text => {
            said += text;
            if (/in a browser: /.test(said)) ready();
        });
    });
    const base = /in a browser: (http:\S+)\//.exec(said)[1], rtsp = /over RTSP: (rtsp:\/\/[^/]+)/.exec(said)[1];
    await pause(1000);
    console.log(`${options.size} at ${fps} fps | pictures | 50 % | 95 % | 99 %`);
    for (const route of wanted.length ? wanted : Object.keys(routes)) {
        const begin = Date.now(), known = new Set();
        const ages = (await routes[route](base, rtsp)).filter(([number, time]) => time > begin + warmUpMs)
            .filter(([number]) => !known.has(number) && known.add(number)).map(([number, time]) => camera.age(number, time))
            .filter(age => age !== undefined).sort((a, b) => a - b);
        const at = share => ages.length ? `${ages[Math.min(ages.length - 1, Math.floor(share * ages.length))]} ms` : "-";
        console.log(`${route} | ${ages.length} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)}`);
    }
    camera.stop();
} finally {
    server.kill();
}
