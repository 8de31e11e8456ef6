const LATEST_FRAMES = 300; // events that may wait for their frames: the picture is later on a slow line
const VALID_FRAMES = 15; // an event that is older says nothing about a frame
const TRAIL_POINTS = 45;

/** The `objects` events of a camera, and the paths of its tracks up to the frame that is shown. */
export class TrackHistory {
    constructor() {
        /** @type {any[]} Events in the order of their frames; the first is the one that is shown. */
        this.events = [];
        /** @type {Map<number, [number, number][]>} Positions by track: the middle of the box's lower edge. */
        this.trails = new Map();
    }

    /** Adds an event. Frame numbers start again if the source does. */
    add(event) {
        if (event.frame < (this.events.at(-1)?.frame ?? 0)) this.clear();
        this.events.push(event);
        if (this.events.length > LATEST_FRAMES) this.advance();
    }

    /**
     * Returns what to show over a frame, or null if nothing is tracked in it.
     * @param {number} frame
     * @returns {{boxes: any[], tracks: {track: number, box: number[], trail: [number, number][]}[]} | null}
     */
    at(frame) {
        while (this.events.length > 1 && this.events[1].frame <= frame) this.advance();
        const event = this.events[0];
        if (!event || event.frame > frame || frame - event.frame > VALID_FRAMES) return null;
        const tracked = event.objects.filter(({ track }) => track !== undefined);
        if (tracked.length === 0) return null;
        return {
            boxes: event.objects.map(({ box: [x, y, width, height] }) => ({ x, y, width, height })),
            tracks: tracked.map(({ track, box }) => ({
                track,
                box,
                trail: [...(this.trails.get(track) ?? []), positionOf(box)],
            })),
        };
    }

    /** Removes the first event and continues the trails with its positions. */
    advance() {
        const { objects } = this.events.shift();
        const trails = new Map();
        for (const { track, box } of objects)
            if (track !== undefined)
                trails.set(track, [...(this.trails.get(track) ?? []), positionOf(box)].slice(-TRAIL_POINTS));
        this.trails = trails;
    }

    /** Forgets everything. */
    clear() {
        this.events = [];
        this.trails.clear();
    }
}

/** @returns {[number, number]} */
function positionOf([x, y, width, height]) {
    return [x + width / 2, y + height];
}
