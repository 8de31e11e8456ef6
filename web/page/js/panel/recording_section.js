import { make } from "../dom.js";
import { bytes, duration } from "../words.js";
import { section } from "./section.js";

/** Shows the current recording, or why there is none. */
export class RecordingSection {
    /** @param {any} server */
    constructor(server) {
        this.keeps = server.recordings;
        this.words = make("p", {});
        this.element = section("Recording", {}, this.words);
    }

    /** Shows the camera's recording. */
    learn(camera) {
        const { recording } = camera;
        this.words.textContent = !this.keeps
            ? "The server has no folder to record into: start it with --record-dir DIR."
            : recording
              ? `${recording.file}: ${duration(recording.seconds)}, ${bytes(recording.bytes)} so far.`
              : "Nothing is recorded. The button below the picture begins a recording, of the very bytes that viewers get.";
    }
}
