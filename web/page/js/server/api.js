import { addressOf } from "./root.js";
import { token } from "./token.js";

/** The server's refusal of a request; the message is the server's text. */
export class Refusal extends Error {
    /** @param {number} status HTTP status; 0 if the server did not answer @param {string} text */
    constructor(status, text) {
        super(text);
        this.status = status;
    }
}

/** Maximum time to wait for a response. */
const PATIENCE_MS = 8000;

/** Sends a request and returns the JSON of the response. Throws Refusal. */
async function ask(method, path, body) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json" };
    if (token()) headers.Authorization = `Bearer ${token()}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let response, text;
    try {
        response = await fetch(addressOf(path), {
            method,
            headers,
            body: body === undefined ? undefined : JSON.stringify(body),
            cache: "no-store",
            credentials: "omit",
            signal: AbortSignal.timeout(PATIENCE_MS),
        });
        text = await response.text();
    } catch {
        throw new Refusal(0, "The server does not answer.");
    }
    let answer;
    try {
        answer = JSON.parse(text);
    } catch {
        throw new Refusal(response.status, `The server answered ${response.status} without words.`);
    }
    if (!response.ok) throw new Refusal(response.status, answer?.error?.text ?? `The server answered ${response.status}.`);
    return answer;
}

const of = (name) => `api/cameras/${encodeURIComponent(name)}`;

/** The server's API. All functions throw Refusal if the server refuses or does not answer. */
export const api = {
    server: () => ask("GET", "api/server"),
    filters: () => ask("GET", "api/filters"),
    cameras: async () => (await ask("GET", "api/cameras")).cameras,
    setChain: (name, chain) => ask("PUT", `${of(name)}/chain`, { chain }),
    setControls: (name, controls) => ask("PUT", `${of(name)}/controls`, controls),
    setThreshold: (name, asked) => ask("PUT", `${of(name)}/threshold`, asked),
    setZones: (name, zones) => ask("PUT", `${of(name)}/zones`, { zones }),
    setEventZones: (name, set) => ask("PUT", `${of(name)}/event-zones`, set),
    record: (name, on) => ask("POST", `${of(name)}/record`, { on }),
    snapshot: (name) => ask("POST", `${of(name)}/snapshot`, {}),
};
