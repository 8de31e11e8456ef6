// The token of this server, for as long as the tab lives. Never in an address, never in a cookie.

const KEY = "framewire-token";

/** @returns {string} empty where there is none */
export function token() {
    return sessionStorage.getItem(KEY) ?? "";
}

/** @param {string} text */
export function keepToken(text) {
    if (text) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
}
