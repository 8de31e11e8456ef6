import { freshId, make } from "../dom.js";
import { announce } from "../parts/announce.js";
import { icon } from "../parts/icons.js";
import { ZONE_KINDS } from "../picture/overlay.js";
import { api } from "../server/api.js";
import { ControlRequests } from "../server/control_requests.js";
import { RefusalLine, section } from "./section.js";
import { ZoneLayer, hold } from "./zone_layer.js";

const WORDS = {
    privacy: "black in all that leaves the server",
    mosaic: "hidden under cells, in the same way",
    detect: "only what moves here counts",
};

/** Edits the zones, on the picture while this section is open, and as a list of numbers. */
export class ZonesSection {
    /**
     * @param {import("../picture/picture.js").CameraPicture} picture
     * @param {(camera: any) => void} learned receives the camera's settings after a request
     */
    constructor(picture, learned) {
        this.picture = picture;
        /** @type {any[]} */
        this.zones = [];
        this.said = "[]";
        this.refusal = new RefusalLine();
        this.requests = new ControlRequests((zones) => api.setZones(picture.camera.name, zones), {
            done: (camera) => {
                this.said = JSON.stringify(camera.zones);
                learned(camera);
            },
            refused: this.refusal.tell,
        });
        this.layer = new ZoneLayer(this);
        this.list = make("ul", { class: "zone-list", "aria-label": "Zones" });
        this.element = section(
            "Zones",
            {},
            make("p", { class: "soft" }, "Draw on the picture, or add one and move it by the arrow keys."),
            this.kinds(),
            make("button", { class: "button", type: "button", onclick: () => this.add() }, icon("plus"), "Add zone"),
            this.list,
            this.refusal.element,
        );
        this.element.addEventListener("toggle", () => this.edit(this.element.open));
    }

    /** Size of the source, in whose pixels zones are given. @returns {[number, number]} */
    get size() {
        return this.picture.camera.source_size;
    }

    kind = () => this.radios.find((radio) => radio.checked).value;

    /** Creates the choice of the kind for new zones. */
    kinds() {
        const group = freshId("kind");
        this.radios = ZONE_KINDS.map((kind, index) =>
            make("input", { type: "radio", name: group, value: kind, id: `${group}-${kind}`, checked: index === 0 }),
        );
        return make(
            "fieldset",
            { class: "kinds" },
            make("legend", {}, "New zones are"),
            ...this.radios.map((radio) =>
                make(
                    "label",
                    { class: `kind ${radio.value}`, for: radio.id },
                    radio,
                    make("span", {}, make("strong", {}, radio.value), make("span", { class: "soft" }, WORDS[radio.value])),
                ),
            ),
        );
    }

    /** Starts or ends editing on the picture. */
    edit(isEdited) {
        this.picture.classList.toggle("zones-edited", isEdited);
        if (isEdited) this.picture.frame.append(this.layer.element);
        else this.layer.element.remove();
        this.layer.show();
    }

    /** Applies the camera's zones, unless a request is pending or a zone is being dragged. */
    learn(camera) {
        const said = JSON.stringify(camera.zones);
        if (this.requests.pending || this.layer.drag || said === this.said) return;
        this.said = said;
        this.zones = camera.zones.map((zone) => ({ ...zone }));
        this.layer.show();
        this.fillList();
    }

    /** Sends the zones. @param {boolean} isOver false while a drag is in progress */
    changed(isOver) {
        if (!isOver) return;
        this.fillList();
        this.requests.request(this.zones);
    }

    /** Removes a zone. */
    removed(index) {
        this.zones.splice(index, 1);
        this.layer.show();
        this.changed(true);
        announce("Zone removed.");
    }

    /** Adds a zone in the middle of the picture. */
    add() {
        const [width, height] = this.size;
        const zone = { kind: this.kind(), x: width * 0.375, y: height * 0.375, width: width / 4, height: height / 4 };
        hold(zone, this.size, false);
        this.zones.push(zone);
        this.layer.show();
        this.layer.focus(this.zones.length - 1);
        this.changed(true);
    }

    /** Creates the list again and restores the focus. */
    fillList() {
        const focused = [...this.list.querySelectorAll("input, select")].indexOf(document.activeElement);
        this.list.replaceChildren(...this.zones.map((zone, index) => this.line(zone, index)));
        /** @type {HTMLElement | undefined} */ ([...this.list.querySelectorAll("input, select")][focused])?.focus();
    }

    /** Creates the list entry of one zone. */
    line(zone, index) {
        const number = (key, words, maximum) =>
            make("input", {
                type: "number",
                min: 0,
                max: maximum,
                value: zone[key],
                title: words,
                "aria-label": `Zone ${index + 1}, ${words}`,
                onchange: ({ target }) => {
                    zone[key] = Number(target.value);
                    hold(zone, this.size, key === "x" || key === "y");
                    this.layer.show();
                    this.changed(true);
                },
            });
        const kind = make(
            "select",
            {
                "aria-label": `Zone ${index + 1}, kind`,
                onchange: () => {
                    zone.kind = kind.value;
                    this.layer.show();
                    this.changed(true);
                },
            },
            ...ZONE_KINDS.map((value) => make("option", { value }, value)),
        );
        kind.value = zone.kind;
        const [width, height] = this.size;
        return make(
            "li",
            { class: `zone-line ${zone.kind}` },
            kind,
            number("x", "left", width),
            number("y", "top", height),
            number("width", "width", width),
            number("height", "height", height),
            make(
                "button",
                { class: "button plain square", type: "button", "aria-label": `Remove zone ${index + 1}`, title: "Remove", onclick: () => this.removed(index) },
                icon("remove"),
            ),
        );
    }
}
