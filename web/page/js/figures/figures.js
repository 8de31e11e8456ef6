import { make } from "../dom.js";
import { bitrate, decimal, percent } from "../words.js";
import { Plot } from "./plot.js";

// Interval between updates, and the number of values in a plot: those of one minute.
const EVERY_MS = 500;
const KEPT = 120;

/**
 * The statistics of a stream: title, `brief` title for small places, value, the line below it, and the value that is
 * plotted.
 */
const FIGURES = {
    fps: {
        title: "Frames per second",
        brief: "fps",
        value: (now) => decimal(now.fps),
        below: (now, camera) => (camera.rate ? `of ${decimal(camera.rate, camera.rate % 1 ? 2 : 0)}` : ""),
        course: (now) => now.fps,
    },
    latency: {
        title: "Camera to screen",
        brief: "latency",
        value: (now) => (Number.isFinite(now.latencyMs) ? `${decimal(now.latencyMs, 0)} ms` : "-"),
        below: (now) => (Number.isFinite(now.decodeMs) ? `${decimal(now.decodeMs)} ms decoding` : ""),
        course: (now) => now.latencyMs,
    },
    bandwidth: {
        title: "Bandwidth",
        brief: "bandwidth",
        value: (now) => bitrate(now.bitsPerSecond),
        below: (now) =>
            now.rawBitsPerSecond
                ? `${percent(now.bitsPerSecond / now.rawBitsPerSecond)} of ${bitrate(now.rawBitsPerSecond)} raw`
                : "",
        course: (now) => now.bitsPerSecond,
    },
    changed: {
        title: "Bytes changed",
        value: (now) => percent(now.changedShare),
        below: () => "of the newest frame",
        course: (now) => now.changedShare,
    },
    bound: {
        title: "Error bound",
        brief: "bound",
        value: (now) => (!Number.isFinite(now.threshold) ? "-" : now.threshold === 0 ? "exact" : `± ${now.threshold}`),
        below: (now, camera) => `${camera.mode}, of 255`,
        course: (now) => now.threshold,
    },
    drops: {
        title: "Skipped",
        value: (now) => decimal(now.dropped, 0),
        below: () => "states, line too slow",
        course: (now) => now.dropped,
    },
};

/** Statistics of a stream, updated twice per second while the page is visible. */
export class Figures {
    /**
     * @param {import("../picture/picture.js").CameraPicture} picture
     * @param {(keyof typeof FIGURES)[]} shown
     * @param {(keyof typeof FIGURES)[]} plotted the statistics with a plot, a subset of `shown`
     * @param {boolean} [isBrief] use brief titles
     */
    constructor(picture, shown, plotted, isBrief = false) {
        this.picture = picture;
        this.isBrief = isBrief;
        this.seconds = [];
        this.parts = shown.map((name) => this.part(name, plotted.includes(name)));
        this.element = make("dl", { class: "figures" }, ...this.parts.map((part) => part.element));
        this.timer = setInterval(() => this.refresh(), EVERY_MS);
        this.refresh();
    }

    /** Creates the elements of one statistic. */
    part(name, isPlotted) {
        const value = make("dd", { class: "value numbers" });
        const below = make("dd", { class: "below" });
        const plot = isPlotted ? new Plot() : null;
        const element = make(
            "div",
            { class: `figure ${name}` },
            make("dt", {}, this.isBrief ? FIGURES[name].brief : FIGURES[name].title),
            value,
            below,
            plot && make("dd", { class: "course" }, plot.element),
        );
        return { figure: FIGURES[name], element, value, below, plot, course: [] };
    }

    /** Reads the statistics and updates all elements. */
    refresh() {
        if (document.hidden) return;
        const now = this.picture.greeted ? this.picture.stream.figures() : {};
        this.seconds.push(performance.now() / 1000);
        if (this.seconds.length > KEPT) this.seconds.shift();
        for (const part of this.parts) {
            part.value.textContent = part.figure.value(now);
            part.below.textContent = part.figure.below(now, this.picture.camera);
            if (!part.plot) continue;
            const value = part.figure.course(now);
            part.course.push(Number.isFinite(value) ? value : null);
            if (part.course.length > KEPT) part.course.shift();
            part.plot.show(this.seconds, part.course);
        }
    }

    /** Stops the updates. */
    close() {
        clearInterval(this.timer);
        for (const part of this.parts) part.plot?.close();
    }
}
