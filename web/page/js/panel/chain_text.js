// The text of a chain of filters, `name=value:key=value,name=...`, read and written as the server does
// (docs/filters/README.md). What a value may be is the server's to say.

const SPACE = /\s/;
const KEY = /^([A-Za-z0-9_-]+)\s*=/;

/**
 * @typedef {{name: string, values: Record<string, string[]>, on: boolean}} FilterItem a filter and what its text says:
 *     values that are left out are the filter's defaults
 */

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
        let kept = 0; // up to the last character that is no plain space
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
 * @param {string} text
 * @param {any[]} filters as /api/filters tells them
 * @returns {FilterItem[]}
 * @throws {Error} where it is no such text
 */
export function parseChain(text, filters) {
    return new Reader(text, filters).read();
}

function quoted(value) {
    if (value !== "" && !/[:,'\\=]|^\s|\s$/.test(value)) return value;
    return `'${value.replaceAll("'", "'\\''")}'`;
}

/**
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

/** @param {FilterItem[]} items @param {any[]} filters */
export function formatChain(items, filters) {
    return items.map((item) => formatFilter(item, filters)).join(",");
}
