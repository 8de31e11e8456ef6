import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--no-first-run",
    "--no-sandbox",
];

/** Starts Debian's Chromium without a window. */
export function startBrowser() {
    return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

/**
 * Opens a page in a separate browser context. `complaints` collects errors and warnings that it logs or throws, and
 * its requests to other servers.
 * @param {import("playwright-core").Browser} browser
 * @param {string} address
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function openPage(browser, address, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    // Long enough for a busy machine.
    page.setDefaultTimeout(60_000);
    /** @type {string[]} */
    const complaints = [];
    page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) complaints.push(`${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
        if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(address)) complaints.push(`asked ${request.url()}`);
    });
    await page.goto(address);
    return { page, complaints, close: () => context.close() };
}

/** Returns the problems that axe finds in the page. @returns {Promise<string[]>} */
export async function violations(page) {
    const { violations: found } = await new AxeBuilder({ page }).analyze();
    return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join("; ")}`);
}
