import { api } from "./api.js";

const BETWEEN_MS = 2000;

/**
 * What the server says of its cameras, asked again and again while the page is seen.
 * Events: `change` (the cameras are others or stand otherwise), `reach` (detail: whether the server answers), `refused`
 * (detail: the Refusal, where a token is wanted). After `refused` nothing is asked until resume(): each question with a token
 * that is wrong counts against this address.
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

    /** @param {string} name */
    named(name) {
        return this.all.find((camera) => camera.name === name);
    }

    /** Asks now, and then every two seconds. */
    async watch() {
        clearTimeout(this.timer);
        if (!document.hidden && !this.halted) await this.ask();
        clearTimeout(this.timer);
        if (this.halted) return;
        this.timer = setTimeout(() => this.watch(), BETWEEN_MS);
    }

    /** Goes on after a refusal, as one who has seen nothing yet. */
    resume() {
        this.halted = false;
        this.said = "";
        return this.watch();
    }

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

    /** A camera as the answer to an order tells it. */
    learn(camera) {
        this.all = this.all.map((one) => (one.name === camera.name ? camera : one));
        this.said = JSON.stringify(this.all);
        this.dispatchEvent(new Event("change"));
    }

    reach(reached) {
        if (reached === this.reached) return;
        this.reached = reached;
        this.dispatchEvent(new CustomEvent("reach", { detail: reached }));
    }
}
