// Creates DOM elements from code, without markup in strings.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Sets attributes of an element.
 * @param {Element} element
 * @param {Record<string, any>} attributes names that start with `on` become listeners; `value`, `checked`, `disabled`
 *     and the like become properties; all others become attributes. undefined and null are ignored
 */
function dress(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (["value", "checked", "disabled", "hidden", "textContent", "readOnly"].includes(name)) element[name] = value;
        else element.setAttribute(name, value === true ? "" : String(value));
    }
}

/**
 * Creates an HTML element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined)} children null and undefined are ignored
 * @returns {any} the element
 */
export function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    dress(element, attributes);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

/** Creates an SVG element. @returns {any} the element */
export function makeSvg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    dress(element, attributes);
    element.append(...children);
    return element;
}

let made = 0;
/** Returns an id that no other element has. @returns {string} */
export function freshId(stem) {
    return `${stem}-${++made}`;
}
