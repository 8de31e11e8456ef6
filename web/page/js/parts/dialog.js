import { make, freshId } from "../dom.js";
import { icon } from "./icons.js";

/**
 * Opens a modal dialog, which is removed from the page when it is closed.
 * @param {string} title
 * @param {{closable?: boolean, class?: string}} options
 * @param {...(Node | string)} children
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, options, ...children) {
    const id = freshId("dialog");
    const dialog = make(
        "dialog",
        { "aria-labelledby": id, class: options.class },
        make(
            "div",
            { class: "dialog-head" },
            make("h2", { id }, title),
            options.closable === false
                ? null
                : make(
                      "button",
                      { class: "button plain square", type: "button", "aria-label": "Close", onclick: () => dialog.close() },
                      icon("close"),
                  ),
        ),
        ...children,
    );
    if (options.closable === false) dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog && options.closable !== false) dialog.close();
    });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}
