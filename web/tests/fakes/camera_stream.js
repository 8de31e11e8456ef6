// Replaces /stream/camera_stream.js: draws a moving picture for any camera.

export class CameraStream extends EventTarget {
    constructor({ canvas }) {
        super();
        this.canvas = canvas;
        canvas.width = 640;
        canvas.height = 360;
        this.context = canvas.getContext("2d");
        this.version = 0;
        this.paused = false;
        this.view = "picture";
        queueMicrotask(() => {
            this.tell("state", { state: "live", text: "" });
            this.tell("hello", { width: 640, height: 360, channels: 3, mode: "exact", threshold: 20, rate: 30 });
        });
        this.timer = setInterval(() => this.paused || this.draw(), 40);
    }

    tell(name, detail) {
        this.dispatchEvent(new CustomEvent(name, { detail }));
    }

    draw() {
        const at = (++this.version * 4) % 560;
        const sky = this.context.createLinearGradient(0, 0, 0, 360);
        sky.addColorStop(0, "#35506e");
        sky.addColorStop(1, "#a9876a");
        this.context.fillStyle = sky;
        this.context.fillRect(0, 0, 640, 360);
        this.context.fillStyle = { picture: "#e8c15a", changes: "#ff4040", heat: "#40ff90" }[this.view];
        this.context.fillRect(at, 180, 80, 120);
        const objects = [{ id: 1, x: at, y: 180, width: 80, height: 120, area: 9600 }];
        this.tell("frame", { version: this.version, frame: this.version, objects, latencyMs: 31 });
    }

    figures() {
        const wave = Math.sin(this.version / 20);
        return {
            fps: 29.9 + wave / 5,
            latencyMs: 31 + 4 * wave,
            bitsPerSecond: 18e6 + 3e6 * wave,
            rawBitsPerSecond: 665e6,
            changedShare: 0.0236 + 0.004 * wave,
            threshold: 20,
            dropped: 0,
            decodeMs: 2.1,
        };
    }

    pause() {
        this.paused = true;
        this.tell("state", { state: "paused", text: "" });
    }

    resume() {
        if (this.paused) this.tell("state", { state: "live", text: "" });
        this.paused = false;
    }

    close() {
        clearInterval(this.timer);
    }

    setView(view) {
        this.view = view;
    }

    snapshot() {
        return new Promise((resolve) => this.canvas.toBlob(resolve));
    }
}
