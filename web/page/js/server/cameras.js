import { api } from "./api.js";

const BETWEEN_MS = 2000;

/**
 * The server's cameras, polled while the page is visible. Events: `change` (the list or a camera's settings changed),
 * `reach` (detail: whether the server answers), `refused` (detail: the Refusal, if a token is needed). After `refused`
 * it does not poll until resume(), because each request with a wrong token counts against this address.
 */
export class Cameras extends EventTarget {
    constructor() {
        super();
        /** @type {any[]} */
        this.all = [];
        this.reached = true;
        this.timer = 0;
        this.halted = false;
        /** @type {string} */
        this.said = "";
    }

    /** Returns the camera of that name, or undefined. @param {string} name */
    named(name) {
        return this.all.find((camera) => camera.name === name);
    }

    /** Polls now and then every two seconds. */
    async watch() {
        clearTimeout(this.timer);
        if (!document.hidden && !this.halted) await this.ask();
        clearTimeout(this.timer);
        if (this.halted) return;
        this.timer = setTimeout(() => this.watch(), BETWEEN_MS);
    }

    /** Polls again after a refusal and reports all cameras as new. */
    resume() {
        this.halted = false;
        this.said = "";
        return this.watch();
    }

    /** Polls once. */
    async ask() {
        let all;
        try {
            all = await api.cameras();
        } catch (refusal) {
            if (refusal.status !== 401 && refusal.status !== 429) return this.reach(false);
            if (this.halted) return;
            this.halted = true;
            this.dispatchEvent(new CustomEvent("refused", { detail: refusal }));
            return;
        }
        this.reach(true);
        const said = JSON.stringify(all);
        if (said === this.said) return;
        this.said = said;
        this.all = all;
        this.dispatchEvent(new Event("change"));
    }

    /** Stores a camera's settings from the response to a request. */
    learn(camera) {
        this.all = this.all.map((one) => (one.name === camera.name ? camera : one));
        this.said = JSON.stringify(this.all);
        this.dispatchEvent(new Event("change"));
    }

    /** Reports whether the server answers, if that changed. */
    reach(reached) {
        if (reached === this.reached) return;
        this.reached = reached;
        this.dispatchEvent(new CustomEvent("reach", { detail: reached }));
    }
}
