import { make } from "../dom.js";
import { announce } from "./announce.js";
import { icon } from "./icons.js";

const KEY = "framewire-theme";
const THEMES = ["auto", "light", "dark"];
const ICONS = { auto: "auto", light: "sun", dark: "moon" };

/** @type {HTMLButtonElement} */
let button;

/** Returns the stored theme. */
function chosen() {
    const kept = localStorage.getItem(KEY);
    return THEMES.includes(kept) ? kept : "auto";
}

/** Applies a theme to the page and to the button. */
function apply(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.replaceChildren(icon(ICONS[theme]));
    button.setAttribute("aria-label", `Colours: ${theme === "auto" ? "as the system" : theme}`);
    button.title = button.getAttribute("aria-label");
}

/** Switches to the next theme in the cycle of system, light and dark. */
export function nextTheme() {
    const theme = THEMES[(THEMES.indexOf(chosen()) + 1) % THEMES.length];
    localStorage.setItem(KEY, theme);
    apply(theme);
    announce(button.title);
}

/** Creates the button that switches the theme. @returns {HTMLButtonElement} */
export function themeButton() {
    button = make("button", { class: "button plain square", type: "button", onclick: nextTheme });
    apply(chosen());
    return button;
}
