// What screen readers are told, and what everybody is told for a while.

const STAYS_MS = 6000;

/** Tells screen readers, when they have time. */
export function announce(text) {
    const announcer = document.getElementById("announcer");
    announcer.textContent = "";
    // A text that was there before is not read again unless it goes first.
    setTimeout(() => (announcer.textContent = text), 50);
}

/** Shows a line at the edge for some seconds; screen readers read it at once. */
export function toast(text, kind = "good") {
    const line = document.createElement("p");
    line.className = `toast ${kind}`;
    line.textContent = text;
    const place = document.getElementById("toasts");
    while (place.childElementCount > 2) place.firstChild.remove();
    place.append(line);
    setTimeout(() => line.remove(), STAYS_MS);
}
