import { make, freshId } from "../dom.js";
import { openDialog } from "./dialog.js";

const KEY = "framewire-shortcuts";

/** @type {Map<string, {words: string, act: () => void, shown: string}>} */
const shortcuts = new Map();

const areOn = () => localStorage.getItem(KEY) !== "off";

/**
 * Assigns an action to a key.
 * @param {string} key as in KeyboardEvent.key
 * @param {string} words description in the help; if empty, the key is not listed
 * @param {() => void} act
 * @param {string} [shown] the key as shown in the help
 */
export function onKey(key, words, act, shown = key) {
    shortcuts.set(key, { words, act, shown });
}

/** Removes the actions of keys. @param {...string} keys */
export function forgetKeys(...keys) {
    for (const key of keys) shortcuts.delete(key);
}

/** Opens the list of keys. */
export function showHelp() {
    const id = freshId("shortcuts");
    const reported = [...shortcuts.values()].filter((shortcut) => shortcut.words);
    openDialog(
        "Keys",
        { class: "help" },
        make(
            "dl",
            { class: "keys" },
            ...reported.map(({ shown, words }) => make("div", {}, make("dt", {}, make("kbd", {}, shown)), make("dd", {}, words))),
        ),
        make(
            "p",
            { class: "switch-line" },
            make("input", {
                type: "checkbox",
                id,
                checked: areOn(),
                onchange: ({ target }) => localStorage.setItem(KEY, target.checked ? "on" : "off"),
            }),
            make("label", { for: id }, "Single keys act as listed above"),
        ),
    );
}

/** Listens for keys on the whole page. Keys in text fields and with modifiers are ignored. */
export function startShortcuts() {
    onKey("?", "this help", showHelp);
    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !areOn()) return;
        if (document.querySelector("dialog[open]")) return;
        const target = /** @type {HTMLElement} */ (event.target);
        if (target.closest("textarea, select, input:not([type=checkbox])")) return;
        if (event.key === " " && target.closest("button, a, summary, input")) return;
        const shortcut = shortcuts.get(event.key);
        if (!shortcut) return;
        event.preventDefault();
        shortcut.act();
    });
}
