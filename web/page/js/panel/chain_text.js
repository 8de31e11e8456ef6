// Reads and writes the text of a filter chain, `name=value:key=value,name=...`, like the server
// (docs/filters/README.md). Only the server validates values.

const SPACE = /\s/;
const KEY = /^([A-Za-z0-9_-]+)\s*=/;

/**
 * @typedef {{name: string, values: Record<string, string[]>, on: boolean}} FilterItem a filter with the values that the
 *     text gives; missing values are the filter's defaults
 */

/** A recursive descent parser for chains. */
class Reader {
    constructor(text, filters) {
        this.text = text;
        this.filters = filters;
        this.at = 0;
    }

    read() {
        const items = [];
        if (!this.text.trim()) return items;
        do items.push(this.readFilter());
        while (this.take(","));
        return items;
    }

    readFilter() {
        const end = this.text.slice(this.at).search(/[=:,]/);
        const stop = end < 0 ? this.text.length : this.at + end;
        const name = this.text.slice(this.at, stop).trim();
        this.at = stop;
        const filter = this.filters.find((one) => one.name === name);
        if (!filter) throw new Error(`There is no filter '${name}'.`);
        /** @type {Record<string, string[]>} */
        const values = {};
        if (this.take("=") || this.take(":")) this.readValues(filter, values);
        return { name, values, on: true };
    }

    readValues(filter, values) {
        let next = 0;
        do {
            this.skipSpaces();
            const key = KEY.exec(this.text.slice(this.at));
            if (key) this.at += key[0].length;
            const name = key ? key[1] : filter.parameters[next++]?.name;
            if (!filter.parameters.some((parameter) => parameter.name === name))
                throw new Error(`Filter '${filter.name}' has no parameter '${name}'.`);
            (values[name] ??= []).push(this.readValue());
        } while (this.take(":"));
    }

    readValue() {
        this.skipSpaces();
        let value = "";
        // Length without trailing spaces that are neither quoted nor escaped.
        let kept = 0;
        while (this.at < this.text.length && !":,".includes(this.text[this.at])) {
            const character = this.text[this.at++];
            if (character === "'") {
                const close = this.text.indexOf("'", this.at);
                if (close < 0) throw new Error("A quote is never closed.");
                value += this.text.slice(this.at, close);
                this.at = close + 1;
            } else if (character === "\\") {
                value += this.text[this.at++] ?? "";
            } else {
                value += character;
                if (SPACE.test(character)) continue;
            }
            kept = value.length;
        }
        return value.slice(0, kept);
    }

    take(character) {
        if (this.text[this.at] !== character) return false;
        ++this.at;
        return true;
    }

    skipSpaces() {
        while (SPACE.test(this.text[this.at] ?? "")) ++this.at;
    }
}

/**
 * Parses a chain.
 * @param {string} text
 * @param {any[]} filters as returned by /api/filters
 * @returns {FilterItem[]}
 * @throws {Error} if the text is invalid
 */
export function parseChain(text, filters) {
    return new Reader(text, filters).read();
}

/** Quotes a value if it contains special characters. */
function quoted(value) {
    if (value !== "" && !/[:,'\\=]|^\s|\s$/.test(value)) return value;
    return `'${value.replaceAll("'", "'\\''")}'`;
}

/**
 * Formats one filter. The first value is written without its name if it belongs to the first parameter.
 * @param {FilterItem} item
 * @param {any[]} filters
 */
export function formatFilter(item, filters) {
    const parameters = filters.find((one) => one.name === item.name)?.parameters ?? [];
    const given = parameters.flatMap((parameter, index) =>
        (item.values[parameter.name] ?? []).map((value) => ({ name: parameter.name, isMain: index === 0, value })),
    );
    const texts = given.map(({ name, isMain, value }, at) => (isMain && at === 0 ? quoted(value) : `${name}=${quoted(value)}`));
    return texts.length ? `${item.name}=${texts.join(":")}` : item.name;
}

/**
 * Formats a chain.
 * @param {FilterItem[]} items
 * @param {any[]} filters
 */
export function formatChain(items, filters) {
    return items.map((item) => formatFilter(item, filters)).join(",");
}
