/**
 * Requests of one part of the panel, one at a time and in their order: while one is on its way, only the newest of each
 * setting is kept. So a slider may be drawn as fast as one likes, and what is asked of another setting is not lost.
 */
export class Orders {
    /**
     * @param {(wish: any) => Promise<any>} send
     * @param {{done?: (answer: any) => void, refused?: (text: string) => void}} told
     */
    constructor(send, told) {
        this.send = send;
        this.told = told;
        this.busy = false;
        /** The newest request of each setting. @type {Map<string, any>} */
        this.waiting = new Map();
    }

    /** Whether the server has not answered all yet. */
    get pending() {
        return this.busy;
    }

    /**
     * @param {any} wish
     * @param {string} setting what it sets: a later request of the same setting replaces it while it waits
     */
    async order(wish, setting = "") {
        this.waiting.delete(setting); // the newest goes last
        this.waiting.set(setting, wish);
        if (this.busy) return;
        this.busy = true;
        let refusal = "";
        while (this.waiting.size > 0) {
            const [first] = this.waiting.keys();
            const now = this.waiting.get(first);
            this.waiting.delete(first);
            let answer;
            let taken = true;
            try {
                answer = await this.send(now);
            } catch (error) {
                taken = false;
                refusal = error.message;
            }
            const isLast = this.waiting.size === 0;
            this.busy = !isLast;
            // A request that is taken does not hide that the one before was refused.
            this.told.refused?.(refusal);
            if (taken && isLast) this.told.done?.(answer);
        }
    }
}
