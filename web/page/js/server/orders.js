/**
 * Orders of one control, one at a time: while one is on its way, only the newest of those that came since is kept. So a
 * slider may be drawn as fast as one likes.
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
        this.next = undefined;
    }

    /** Whether the server has not answered all yet. */
    get pending() {
        return this.busy;
    }

    /** @param {any} wish */
    async order(wish) {
        this.next = { wish };
        if (this.busy) return;
        this.busy = true;
        while (this.next) {
            const { wish: now } = this.next;
            this.next = undefined;
            try {
                const answer = await this.send(now);
                this.busy = this.next !== undefined;
                this.told.refused?.("");
                if (!this.next) this.told.done?.(answer);
            } catch (refusal) {
                this.busy = this.next !== undefined;
                this.told.refused?.(refusal.message);
            }
        }
    }
}
