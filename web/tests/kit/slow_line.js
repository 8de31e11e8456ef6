import { createServer, connect } from "node:net";

const TICK_MS = 20;

/**
 * Starts a proxy on loopback in front of a server. `line.bytesPerSecond` limits what all its clients receive together
 * and can be changed at any time; for `line.restMs` of every second it transfers nothing.
 * @param {import("node:test").TestContext} context
 * @param {number} port the server's port
 * @returns {Promise<{port: number, bytesPerSecond: number, restMs: number}>}
 */
export async function slowLine(context, port) {
    const line = { port: 0, bytesPerSecond: Infinity, restMs: 0 };
    const waiting = [];
    const timer = setInterval(() => {
        if (Date.now() % 1000 < line.restMs) return;
        let room = (line.bytesPerSecond * TICK_MS) / 1000;
        while (room > 0 && waiting.length > 0) {
            const { server, client, bytes } = waiting.shift();
            const piece = bytes.subarray(0, room);
            if (piece.length < bytes.length) waiting.unshift({ server, client, bytes: bytes.subarray(piece.length) });
            else server.resume();
            client.write(piece);
            room -= piece.length;
        }
    }, TICK_MS);
    const sockets = new Set();
    const listener = createServer((client) => {
        const server = connect(port, "127.0.0.1");
        for (const [one, other] of [[client, server], [server, client]]) {
            sockets.add(one);
            one.setNoDelay(true);
            one.on("error", () => other.destroy());
            one.on("close", () => other.destroy());
        }
        client.on("data", (bytes) => server.write(bytes));
        // Transfers one piece per connection at a time; the rest waits at the server.
        server.on("data", (bytes) => {
            server.pause();
            waiting.push({ server, client, bytes });
        });
    });
    await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
    line.port = listener.address().port;
    context.after(() => {
        clearInterval(timer);
        for (const socket of sockets) socket.destroy();
        listener.close();
    });
    return line;
}
