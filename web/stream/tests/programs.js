import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const program = process.env.FRAMEWIRE ?? fileURLToPath(new URL("../../../build/dev/framewire", import.meta.url));

/** A folder that goes with the test. @param {import("node:test").TestContext} context */
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
 * Starts `framewire serve`, on a free port where the arguments name none.
 * @returns {Promise<{port: number, kill: () => void}>}
 */
export async function serve(context, ...args) {
    const listen = args.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"];
    const child = start(context, "serve", ...listen, ...args);
    let said = "";
    const port = await new Promise((resolve, reject) => {
        child.stderr.on("data", data => {
            said += data;
            const found = /tcp:\/\/127\.0\.0\.1:(\d+)/.exec(said);
            if (found) resolve(Number(found[1]));
        });
        child.on("exit", () => reject(new Error(said)));
    });
    return { port, kill: () => child.kill("SIGKILL") };
}
