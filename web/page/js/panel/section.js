import { make } from "../dom.js";

/**
 * Creates a collapsible section of the panel.
 * @param {string} title
 * @param {{open?: boolean, class?: string}} options
 * @param {...(Node | null)} children
 */
export function section(title, options, ...children) {
    return make(
        "details",
        { class: `section ${options.class ?? ""}`, open: options.open ? true : null },
        make("summary", {}, make("h2", {}, title)),
        make("div", { class: "section-body" }, ...children),
    );
}

/** Shows the server's refusal beside the control that caused it. */
export class RefusalLine {
    constructor() {
        this.element = make("p", { class: "refusal", role: "alert" });
    }

    tell = (text) => {
        if (this.element.textContent !== text) this.element.textContent = text;
    };
}
