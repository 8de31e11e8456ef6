import { freshId, make } from "../dom.js";
import { openDialog } from "../parts/dialog.js";

/**
 * Opens a dialog in which the user chooses one of the server's filters.
 * @param {any[]} filters
 * @param {(filter: any) => void} chosen
 */
export function chooseFilter(filters, chosen) {
    const id = freshId("search");
    const list = make("ul", { class: "choices" });
    const search = make("input", { type: "search", id, autocomplete: "off", spellcheck: "false", oninput: fill });
    const dialog = openDialog(
        "Add a filter",
        { class: "choose" },
        make("label", { for: id, class: "unseen" }, "Search filters"),
        search,
        list,
    );

    function fill() {
        const words = search.value.toLowerCase().split(/\s+/);
        const found = filters.filter((filter) =>
            words.every((word) => `${filter.name} ${filter.summary}`.toLowerCase().includes(word)),
        );
        list.replaceChildren(
            ...found.map((filter) =>
                make(
                    "li",
                    {},
                    make(
                        "button",
                        { type: "button", class: "choice", onclick: () => choose(filter) },
                        make("strong", {}, filter.name),
                        make("span", { class: "soft" }, filter.summary),
                    ),
                ),
            ),
            ...(found.length ? [] : [make("li", { class: "soft" }, "No filter has these words.")]),
        );
    }

    function choose(filter) {
        dialog.close();
        chosen(filter);
    }

    search.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        /** @type {HTMLButtonElement | null} */ (list.querySelector("button"))?.click();
    });
    fill();
    search.focus();
}
