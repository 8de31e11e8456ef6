import { freshId, make } from "../dom.js";
import { toast } from "../parts/announce.js";
import { icon } from "../parts/icons.js";
import { section } from "./section.js";

/** Shows the command line that serves the camera with its current settings. */
export class CommandSection {
    constructor() {
        const id = freshId("command");
        this.text = make("textarea", { id, readOnly: true, rows: 3, spellcheck: "false" });
        this.element = section(
            "Command line",
            {},
            make("label", { for: id, class: "soft" }, "Serves the camera as it stands now"),
            this.text,
            make("button", { class: "button", type: "button", onclick: () => this.copy() }, icon("copy"), "Copy"),
        );
    }

    /** Shows the camera's command line. */
    learn(camera) {
        if (this.text.value !== camera.command) this.text.value = camera.command;
    }

    /** Copies the command line to the clipboard. */
    async copy() {
        try {
            await navigator.clipboard.writeText(this.text.value);
        } catch {
            // The clipboard API needs HTTPS or localhost. Otherwise the deprecated command is used.
            this.text.select();
            document.execCommand("copy");
        }
        toast("The command line is copied.");
    }
}
