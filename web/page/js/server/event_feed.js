import { addressOf } from "./root.js";
import { token } from "./token.js";

const AGAIN_MS = 3000;

/** Receives the events of one type of a camera while it is open, and connects again if the connection is lost. */
export class EventFeed {
    /** @param {string} camera @param {"objects" | "motion" | "zone"} type @param {(event: any) => void} tell */
    constructor(camera, type, tell) {
        this.camera = camera;
        this.type = type;
        this.tell = tell;
        /** @type {WebSocket | null} */
        this.socket = null;
        this.timer = 0;
    }

    /** Connects. */
    open() {
        this.close();
        const url = addressOf("api/events");
        url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
        url.searchParams.set("camera", this.camera);
        const socket = new WebSocket(url);
        this.socket = socket;
        socket.addEventListener("open", () => socket.send(JSON.stringify({ token: token() })));
        socket.addEventListener("message", ({ data }) => {
            const event = JSON.parse(data);
            if (event.type === this.type) this.tell(event);
        });
        socket.addEventListener("close", () => {
            if (this.socket === socket) this.timer = setTimeout(() => this.open(), AGAIN_MS);
        });
    }

    /** Disconnects. */
    close() {
        clearTimeout(this.timer);
        const socket = this.socket;
        this.socket = null;
        socket?.close();
    }
}
