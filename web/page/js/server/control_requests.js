/**
 * Sends the control requests of one part of the panel, one at a time and in order. While one is in progress, only the
 * newest request per setting waits, so a slider can be moved quickly and requests for other settings are not lost.
 */
export class ControlRequests {
    /**
     * @param {(asked: any) => Promise<any>} send sends one request
     * @param {{done?: (answer: any) => void, refused?: (text: string) => void}} reported done: the last request was
     *     accepted; refused: called after each request with the latest refusal, or an empty text
     */
    constructor(send, reported) {
        this.send = send;
        this.reported = reported;
        this.busy = false;
        /** The newest waiting request per setting. @type {Map<string, any>} */
        this.waiting = new Map();
    }

    /** Returns true until the server has answered all requests. */
    get pending() {
        return this.busy;
    }

    /**
     * Sends a request, or replaces a waiting one of the same setting.
     * @param {any} asked
     * @param {string} setting name of the setting
     */
    async request(asked, setting = "") {
        // Deletes the setting first, so that its newest request comes last.
        this.waiting.delete(setting);
        this.waiting.set(setting, asked);
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
            // An accepted request does not hide that an earlier one was refused.
            this.reported.refused?.(refusal);
            if (taken && isLast) this.reported.done?.(answer);
        }
    }
}
