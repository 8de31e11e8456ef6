import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const program = process.env.FRAMEWIRE ?? fileURLToPath(new URL("../../../build/dev/framewire", import.meta.url));

/** Returns a temporary folder, which is removed after the test. @param {import("node:test").TestContext} context */
export function folderOf(context) {
    const folder = mkdtempSync(join(tmpdir(), "framewire-web-"));
    context.after(() => rmSync(folder, { recursive: true }));
    return folder;
}

function start(context, ...args) {
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
    context.after(() => child.kill("SIGKILL"));
    return child;
}

/** Runs the program to its end. @returns {Promise<number>} its exit code */
export function run(context, ...args) {
    const child = start(context, ...args);
    child.stderr.resume();
    return new Promise(resolve => child.on("exit", resolve));
}

/**
 * Starts `framewire serve`, on a free port unless the arguments name one.
 * @returns {Promise<{port: number, kill: () => void, says: (words: string) => Promise<void>}>} `says` waits for a text
 *     on its standard error
 */
export async function serve(context, ...args) {
    const listen = args.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"];
    const child = start(context, "serve", ...listen, ...args);
    let said = "";
    child.stderr.on("data", data => said += data);
    const until = found => new Promise((resolve, reject) => {
        const look = () => {
            const what = found(said);
            if (what) resolve(what);
        };
        child.stderr.on("data", look);
        child.on("exit", () => reject(new Error(said)));
        look();
    });
    const [, port] = await until(text => /tcp:\/\/127\.0\.0\.1:(\d+)/.exec(text));
    const says = words => until(text => text.includes(words));
    return { port: Number(port), kill: () => child.kill("SIGKILL"), says };
}
