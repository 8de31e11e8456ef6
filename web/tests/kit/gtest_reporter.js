// A reporter for node:test that prints GoogleTest's lines, which scripts/count-tests.sh counts.
import { basename } from "node:path";

const wholeMs = (milliseconds) => Math.round(milliseconds ?? 0);

/** Converts the events of a test run to lines. @param {AsyncIterable<any>} events */
export default async function* report(events) {
    for await (const { type, data } of events) {
        if (type === "test:stderr" || type === "test:stdout") yield data.message;
        if (type === "test:diagnostic" && data.nesting > 0) yield `${data.message}\n`;
        // Files and groups do not count as tests.
        if ((type !== "test:pass" && type !== "test:fail") || data.details?.type === "suite") continue;
        if (type === "test:pass" && data.file === undefined && data.name.endsWith(".js")) continue;
        const name = `${basename(data.file ?? "web").split(".")[0]}.${data.name}`;
        const after = `(${wholeMs(data.details?.duration_ms)} ms)`;
        if (data.skip !== undefined) {
            yield `${name}: Skipped\n${data.skip}\n[  SKIPPED ] ${name} ${after}\n`;
        } else if (type === "test:pass") {
            yield `[       OK ] ${name} ${after}\n`;
        } else {
            const error = data.details?.error?.cause ?? data.details?.error;
            yield `${error?.stack ?? error}\n[  FAILED  ] ${name} ${after}\n`;
        }
    }
}
