// The token of this server, for as long as the tab lives. Never in an address, never in a cookie.

import { addressOf } from "./root.js";

// Servers below different paths of one host share its storage.
const KEY = `framewire-token ${addressOf("").pathname}`;

/** @returns {string} empty where there is none */
export function token() {
    return sessionStorage.getItem(KEY) ?? "";
}

/** @param {string} text */
export function keepToken(text) {
    if (text) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
}
