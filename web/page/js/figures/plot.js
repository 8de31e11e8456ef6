import { make } from "../dom.js";
import { addressOf } from "../server/root.js";

const HEIGHT_PX = 44;

/** Loads uPlot. If the server was built without it, the statistics are shown without plots. */
const library = import(addressOf("vendor/uplot.js").href).then(
    ({ default: UPlot }) => {
        document.head.append(make("link", { rel: "stylesheet", href: addressOf("vendor/uplot.css").href }));
        return UPlot;
    },
    () => null,
);

/** Plot of one statistic over time, with an axis that starts at zero. */
export class Plot {
    constructor() {
        this.element = make("div", { class: "plot", "aria-hidden": "true" });
        this.resized = new ResizeObserver(() => this.plot?.setSize({ width: this.element.clientWidth, height: HEIGHT_PX }));
        this.isClosed = false;
        this.open();
    }

    /** Creates the plot once the library has been loaded. */
    async open() {
        const UPlot = await library;
        if (!UPlot || this.isClosed) return;
        const color = () => getComputedStyle(this.element).color;
        this.plot = new UPlot(
            {
                width: this.element.clientWidth || 160,
                height: HEIGHT_PX,
                padding: [4, 0, 2, 0],
                cursor: { show: false },
                legend: { show: false },
                axes: [{ show: false }, { show: false }],
                scales: { x: { time: false }, y: { range: (_plot, _least, most) => [0, (most || 1) * 1.1] } },
                series: [
                    {},
                    {
                        stroke: color,
                        fill: () => color().replace(/^rgb\((.*)\)$/, "rgba($1, 0.16)"),
                        width: 1.5,
                        points: { show: false },
                    },
                ],
            },
            [[], []],
            this.element,
        );
        this.resized.observe(this.element);
    }

    /**
     * Shows new values.
     * @param {number[]} seconds
     * @param {(number | null)[]} values
     */
    show(seconds, values) {
        this.plot?.setData([seconds, values]);
    }

    /** Removes the plot. */
    close() {
        this.isClosed = true;
        this.resized.disconnect();
        this.plot?.destroy();
    }
}
