import { freshId, make } from "../dom.js";
import { toast } from "../parts/announce.js";
import { icon } from "../parts/icons.js";
import { forgetKeys, onKey } from "../parts/shortcuts.js";
import { api } from "../server/api.js";
import { addressOf } from "../server/root.js";
import { duration, stamp } from "../words.js";

const VIEWS = { picture: "Picture", changes: "Changes", heat: "Heat" };

/** The toolbar of a picture: view, overlay, snapshots and recordings. */
export class Toolbar {
    /**
     * @param {import("../picture/picture.js").CameraPicture} picture
     * @param {import("../server/cameras.js").Cameras} cameras
     * @param {any} server
     */
    constructor(picture, cameras, server) {
        this.picture = picture;
        this.cameras = cameras;
        this.name = picture.camera.name;
        this.keeps = server.recordings;
        this.boxes = this.button("boxes", "Boxes", () => this.toggle(this.boxes, "boxes"), true);
        this.zones = this.button("zones", "Zones", () => this.toggle(this.zones, "zones"), true);
        this.pause = this.button("pause", "Pause", () => this.pauseOrGoOn(), false);
        this.record = this.button("record", "Record", () => this.recordOrEnd(), false);
        this.record.classList.add("record");
        this.keep = this.button("server", "Keep", () => this.keepSnapshot());
        this.element = make(
            "div",
            { class: "toolbar", role: "group", "aria-label": "Picture" },
            this.views(),
            this.boxes,
            this.zones,
            this.small(this.pause),
            this.button("camera", "Snapshot", () => this.saveSnapshot()),
            this.keep,
            this.record,
            this.small(this.button("full", "Full screen", () => this.fullScreen())),
            this.small(this.alone()),
        );
        this.keep.title = "Keep a snapshot on the server";
        this.addKeys();
    }

    /** Creates a button; with `pressed` it is a toggle button. */
    button(name, words, onclick, pressed) {
        return make(
            "button",
            { class: "button", type: "button", onclick, "aria-pressed": pressed === undefined ? undefined : String(pressed) },
            icon(name),
            make("span", {}, words),
        );
    }

    /** Creates the link to the view of the camera. As its opener, this page passes the token on. */
    alone() {
        const href = addressOf(`${encodeURIComponent(this.name)}/view`).href;
        return make(
            "a",
            { class: "button", href, target: "_blank", rel: "opener" },
            icon("alone"),
            make("span", {}, "Only the picture, in a new tab"),
        );
    }

    /** Hides a button's text. Screen readers still read it, and it appears as a tooltip. */
    small(button) {
        button.classList.add("square");
        button.lastChild.className = "unseen";
        button.title = button.textContent;
        return button;
    }

    /** Creates the choice of the view. */
    views() {
        const group = freshId("view");
        this.radios = Object.entries(VIEWS).map(([value, words]) => {
            const radio = make("input", {
                type: "radio",
                name: group,
                value,
                id: `${group}-${value}`,
                checked: value === "picture",
                onchange: () => this.picture.stream.setView(value),
            });
            return { radio, label: make("label", { for: radio.id }, words) };
        });
        return make(
            "fieldset",
            { class: "segments" },
            make("legend", { class: "unseen" }, "View"),
            ...this.radios.flatMap(({ radio, label }) => [radio, label]),
        );
    }

    /** Applies the camera's settings. @param {any} camera */
    learn(camera) {
        const takes = camera.may_be_set && this.keeps;
        this.record.hidden = this.keep.hidden = !takes;
        this.record.setAttribute("aria-pressed", String(camera.recording !== null));
        this.record.lastChild.textContent = camera.recording ? `Recording ${duration(camera.recording.seconds)}` : "Record";
        this.boxes.hidden = !camera.detects;
    }

    /** Shows or hides a part of the overlay. */
    toggle(button, what) {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        this.picture.overlay.show(what, shown);
    }

    /** Pauses or resumes the picture. */
    pauseOrGoOn() {
        const stopped = !this.picture.stopped;
        this.picture.stop(stopped);
        this.pause.setAttribute("aria-pressed", String(stopped));
        this.pause.replaceChildren(icon(stopped ? "play" : "pause"), make("span", {}, stopped ? "Go on" : "Pause"));
        this.small(this.pause);
    }

    /** Selects the next view. */
    nextView() {
        const at = this.radios.findIndex(({ radio }) => radio.checked);
        this.radios[(at + 1) % this.radios.length].radio.click();
    }

    /** Saves the picture as a download. */
    async saveSnapshot() {
        try {
            const href = URL.createObjectURL(await this.picture.stream.snapshot());
            const file = `${this.name || "camera"}-${stamp()}.png`;
            make("a", { href, download: file }).click();
            setTimeout(() => URL.revokeObjectURL(href), 10000);
            toast(`${file} is among your downloads.`);
        } catch (failure) {
            toast(`No snapshot: ${failure.message}`, "bad");
        }
    }

    /** Stores a snapshot on the server. */
    async keepSnapshot() {
        try {
            toast(`The server keeps ${(await api.snapshot(this.name)).file}.`);
        } catch (refusal) {
            toast(refusal.message, "bad");
        }
    }

    /** Starts or ends a recording on the server. */
    async recordOrEnd() {
        const { recording } = this.cameras.named(this.name);
        try {
            this.cameras.learn(await api.record(this.name, recording === null));
            const begun = this.cameras.named(this.name).recording;
            toast(begun ? `Recording into ${begun.file}.` : `${recording.file} is whole.`);
        } catch (refusal) {
            toast(refusal.message, "bad");
        }
    }

    /** Enters or leaves full-screen mode. */
    fullScreen() {
        if (document.fullscreenElement) document.exitFullscreen();
        else this.picture.requestFullscreen?.().catch(() => toast("This browser gives no full screen here.", "bad"));
    }

    /** Assigns the keys. */
    addKeys() {
        onKey("v", "picture, changes, heat", () => this.nextView());
        onKey("b", "boxes", () => this.boxes.hidden || this.boxes.click());
        onKey("z", "zones", () => this.zones.click());
        onKey(" ", "pause, resume", () => this.pause.click(), "space");
        onKey("s", "save a snapshot", () => this.saveSnapshot());
        onKey("r", "record on the server, and end that", () => this.record.hidden || this.record.click());
        onKey("f", "full screen", () => this.fullScreen());
    }

    /** Removes the keys. */
    close() {
        forgetKeys("v", "b", "z", " ", "s", "r", "f");
    }
}
