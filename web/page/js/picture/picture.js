import { CameraStream } from "../../stream/camera_stream.js";
import { make } from "../dom.js";
import { announce } from "../parts/announce.js";
import { EventFeed } from "../server/event_feed.js";
import { addressOf } from "../server/root.js";
import { token } from "../server/token.js";
import { Overlay } from "./overlay.js";
import { TrackHistory } from "./track_history.js";

const WORDS = {
    connecting: "Connecting …",
    paused: "Paused",
    lost: "Connection lost. Trying again …",
    ended: "The stream has ended.",
    refused: "The server refuses this stream.",
};

/**
 * A camera's live picture with its overlay. It pauses while it is not visible. Events: `hello` and `state` of the
 * stream.
 */
export class CameraPicture extends HTMLElement {
    /** Starts the stream. @param {any} camera as returned by the API */
    open(camera) {
        this.camera = camera;
        this.state = "connecting";
        this.stopped = false;
        this.inView = true;
        this.runs = true;
        this.overlay = new Overlay();
        this.canvas = make("canvas", { role: "img", "aria-label": `${camera.name}, live picture` });
        this.note = make("p", { class: "note" });
        this.frame = make("div", { class: "frame" }, this.canvas, this.overlay.element);
        this.replaceChildren(this.frame, this.note);
        this.fit(...camera.size);

        const url = addressOf(`${encodeURIComponent(camera.name)}/stream`);
        url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
        this.stream = new CameraStream({
            url,
            name: camera.name,
            token: token(),
            canvas: this.canvas,
        });
        this.stream.addEventListener("state", (event) => this.enter(event.detail));
        this.greeted = false;
        this.stream.addEventListener("hello", ({ detail }) => {
            this.greeted = true;
            this.fit(detail.width, detail.height);
            this.dispatchEvent(new CustomEvent("hello", { detail }));
        });
        this.stream.addEventListener("frame", ({ detail }) => this.showObjects(detail));

        // A busy page receives several entries at once; the last one is current.
        this.watched = new IntersectionObserver((entries) => {
            this.inView = entries.at(-1).isIntersecting;
            this.runOrRest();
        });
        this.watched.observe(this);
        this.onHidden = () => this.runOrRest();
        document.addEventListener("visibilitychange", this.onHidden);
        this.learn(camera);
        this.explain();
        return this;
    }

    /** Shows the numbers and trails of tracked objects from now on. Requires a camera that detects objects. */
    followTracks() {
        this.history = new TrackHistory();
        this.trackFeed = new EventFeed(this.camera.name, "objects", (event) => this.history.add(event));
        this.trackFeed.open();
    }

    /** Shows the objects of a frame: those of its event if there are tracks, otherwise those of the stream. */
    showObjects({ frame, objects = [] }) {
        const seen = objects.length ? this.history?.at(frame) : null;
        this.overlay.showBoxes(seen?.boxes ?? objects);
        this.overlay.showTracks(seen?.tracks ?? []);
    }

    /** Applies the camera's settings. @param {any} camera */
    learn(camera) {
        if (this.camera.up !== camera.up)
            announce(camera.up ? `${camera.name} is back.` : `${camera.name} is lost.`);
        this.camera = camera;
        this.overlay.showZones(camera.zones, camera.source_size);
        this.overlay.showEventZones(camera.event_zones.zones);
        this.explain();
    }

    /** Pauses or resumes at the user's request, independently of visibility. */
    stop(stopped) {
        this.stopped = stopped;
        this.runOrRest();
    }

    /** Ends the stream. */
    close() {
        this.watched.disconnect();
        document.removeEventListener("visibilitychange", this.onHidden);
        this.trackFeed?.close();
        this.stream.close();
    }

    /** Pauses or resumes the stream as needed. */
    runOrRest() {
        const runs = !this.stopped && this.inView && !document.hidden;
        if (runs === this.runs) return;
        this.runs = runs;
        if (runs) this.stream.resume();
        else this.stream.pause();
    }

    /** Adapts the element to the size of the picture. */
    fit(width, height) {
        if (!width || !height) return;
        this.style.setProperty("--aspect", String(width / height));
        this.overlay.setSize(width, height);
        this.overlay.showZones(this.camera.zones, this.camera.source_size);
        this.overlay.showEventZones(this.camera.event_zones.zones);
    }

    /** Applies a new state of the stream. */
    enter({ state, text }) {
        if (state !== this.state && (state === "lost" || (state === "live" && this.state === "lost")))
            announce(state === "lost" ? `${this.camera.name}: connection lost.` : `${this.camera.name}: live again.`);
        this.state = state;
        this.text = text;
        this.explain();
        this.dispatchEvent(new CustomEvent("state", { detail: state }));
    }

    /** Shows the state as a note over the picture. */
    explain() {
        const isLost = this.state === "live" && !this.camera.up;
        this.dataset.state = isLost ? "camera-lost" : this.state;
        this.note.textContent = isLost
            ? "The camera is lost. This is its last picture."
            : this.state === "live"
              ? ""
              : (this.state === "refused" && this.text) || WORDS[this.state];
    }
}

customElements.define("camera-picture", CameraPicture);

/** Creates the element for a camera and starts its stream. @returns {CameraPicture} */
export function openPicture(camera) {
    return /** @type {CameraPicture} */ (make("camera-picture")).open(camera);
}
