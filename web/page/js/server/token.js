// The server's token, stored until the tab is closed. It is never put into an address or a cookie.

import { addressOf } from "./root.js";

// Servers below different paths of one host share the storage.
const KEY = `framewire-token ${addressOf("").pathname}`;

/** Returns the token, or an empty string. @returns {string} */
export function token() {
    return sessionStorage.getItem(KEY) ?? "";
}

/** Stores the token, or removes it if `text` is empty. @param {string} text */
export function keepToken(text) {
    if (text) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
}
