import { freshId, make } from "../dom.js";
import { NumberField } from "./number_field.js";

/**
 * Creates the field for a filter's parameter from its description by /api/filters.
 * @param {any} parameter
 * @param {string[] | undefined} given values in the chain; undefined if the default applies
 * @param {(values: string[] | undefined) => void} changed
 * @returns {HTMLElement}
 */
export function parameterField(parameter, given, changed) {
    const fallback = parameter.default === undefined || parameter.default === null ? "" : String(parameter.default);
    const set = (value) => changed(value === fallback && !parameter.required ? undefined : [value]);
    if (parameter.choices) return choiceField(parameter, given?.[0] ?? fallback, set);
    if (parameter.repeatable) return linesField(parameter, given ?? [], changed);
    const isNumber = parameter.type === "integer" || parameter.type === "real";
    if (isNumber && typeof parameter.minimum === "number" && typeof parameter.maximum === "number") {
        const value = Number(given?.[0] ?? fallback);
        const step = parameter.type === "real" ? (parameter.maximum - parameter.minimum <= 20 ? 0.05 : "any") : 1;
        const { minimum, maximum, name, help } = parameter;
        const field = new NumberField(
            { name, help, minimum, maximum, step: parameter.odd_only ? 2 : step, value },
            (number) => set(String(number)),
        );
        return field.element;
    }
    return textField(parameter, given?.[0] ?? fallback, set);
}

/** Adds a label and a description to a control. */
function described(parameter, control) {
    const id = freshId("parameter");
    control.id = id;
    control.setAttribute("aria-describedby", `${id}-help`);
    return make(
        "div",
        { class: "field" },
        make("label", { for: id }, parameter.name),
        control,
        make("p", { class: "soft", id: `${id}-help` }, parameter.help),
    );
}

/** Creates a list of choices. */
function choiceField(parameter, value, set) {
    const options = parameter.choices.map((choice) => make("option", { value: String(choice) }, String(choice)));
    const select = make("select", { onchange: ({ target }) => set(target.value) }, ...options);
    select.value = String(value);
    return described(parameter, select);
}

/** Creates a line of text. */
function textField(parameter, value, set) {
    const attributes = { type: "text", value, spellcheck: "false", autocapitalize: "off", autocomplete: "off" };
    return described(parameter, make("input", { ...attributes, onchange: ({ target }) => set(target.value) }));
}

/** Creates a text area with one value per line. */
function linesField(parameter, values, changed) {
    const area = make("textarea", {
        rows: 2,
        spellcheck: "false",
        value: values.join("\n"),
        onchange: ({ target }) => {
            const lines = target.value.split("\n").map((line) => line.trim());
            const given = lines.filter((line) => line !== "");
            changed(given.length ? given : undefined);
        },
    });
    return described({ ...parameter, help: `${parameter.help}; one per line` }, area);
}
