// Elements made in one call, without markup in strings.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes `class`, `aria-*` and the like as attributes, `onclick` as listeners, properties
 *     such as `value`, `checked` and `disabled` as properties; undefined and null leave one out
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
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined)} children those that are null or undefined are left out
 * @returns {any} the element
 */
export function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    dress(element, attributes);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

/** @returns {any} an element of SVG */
export function makeSvg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    dress(element, attributes);
    element.append(...children);
    return element;
}

let made = 0;
/** @returns {string} an id that no other element has */
export function freshId(stem) {
    return `${stem}-${++made}`;
}
