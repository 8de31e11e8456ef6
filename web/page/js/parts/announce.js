// Announcements for screen readers, and short messages for everybody.

const STAYS_MS = 6000;

/** Announces a text to screen readers when they are idle. */
export function announce(text) {
    const announcer = document.getElementById("announcer");
    announcer.textContent = "";
    // Screen readers do not repeat an unchanged text, so it is cleared first.
    setTimeout(() => (announcer.textContent = text), 50);
}

/** Shows a message at the edge of the page for some seconds. Screen readers read it at once. */
export function toast(text, kind = "good") {
    const line = document.createElement("p");
    line.className = `toast ${kind}`;
    line.textContent = text;
    const place = document.getElementById("toasts");
    while (place.childElementCount > 2) place.firstChild.remove();
    place.append(line);
    setTimeout(() => line.remove(), STAYS_MS);
}
