// The server's token, stored until the tab is closed. It is never put into an address or a cookie.

import { addressOf } from "./root.js";

// Servers below different paths of one host share the storage.
const KEY = `framewire-token ${addressOf("").pathname}`;

// Browsers may deny storage to a frame in another site's page. The token then lasts until the frame is reloaded.
let kept = "";
const storage = (() => {
    try {
        return sessionStorage;
    } catch {
        return null;
    }
})();

/** Returns the token, or an empty string. @returns {string} */
export function token() {
    return storage ? (storage.getItem(KEY) ?? "") : kept;
}

/** Stores the token, or removes it if `text` is empty. @param {string} text */
export function keepToken(text) {
    kept = text;
    if (text) storage?.setItem(KEY, text);
    else storage?.removeItem(KEY);
}
