import { makeSvg } from "../dom.js";

/** Path data on a 24 x 24 grid. */
const OUTLINES = {
    grid: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
    sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
    moon: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5",
    auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 3v18M12 8l5-3M12 13l8-5M12 18l7-5",
    help: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18v.01",
    camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7",
    full: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
    alone: "M20 13v7H4V4h7M15 4h5v5M20 4l-9 9",
    pause: "M8 5v14M16 5v14",
    play: "M7 4.5v15l12-7.5z",
    boxes: "M5 9V5h4M15 5h4v4M19 15v4h-4M9 19H5v-4M10 10h4v4h-4z",
    zones: "M4 6l7-2 9 4-2 10-10 2z",
    plus: "M12 5v14M5 12h14",
    up: "M12 19V5M6 11l6-6 6 6",
    down: "M12 5v14M6 13l6 6 6-6",
    grip: "M9 6v.01M15 6v.01M9 12v.01M15 12v.01M9 18v.01M15 18v.01",
    remove: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
    close: "M6 6l12 12M18 6 6 18",
    copy: "M9 9h11v11H9zM5 15H4V4h11v1",
    server: "M4 5h16v5H4zM4 14h16v5H4zM8 7.5v.01M8 16.5v.01",
    record: "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12",
};

/**
 * Creates an icon. Screen readers skip it, because its button has its own text.
 * @param {keyof typeof OUTLINES} name
 */
export function icon(name) {
    return makeSvg(
        "svg",
        {
            viewBox: "0 0 24 24",
            fill: "none",
            stroke: "currentColor",
            "stroke-width": name === "grip" ? 3 : 2,
            "stroke-linecap": "round",
            "stroke-linejoin": "round",
            "aria-hidden": "true",
        },
        makeSvg("path", { d: OUTLINES[name] }),
    );
}
