// Tests a session with the real server over TCP, which carries the same bytes as the WebSocket.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { Session } from "../session.js";
import { folderOf, run, serve } from "./programs.js";
import { hello, message, messageTypes, module, preamble } from "./server_bytes.js";
import { dialTcp } from "./tcp_socket.js";

const patience = { timeout: 180_000 };

/** Starts a session that paints nothing and records its events. */
function watch(context, dial, { name = "main", token = "", onPicture = () => {} } = {}) {
    const seen = { states: [], pictures: 0, bytes: [], hello: null, latencies: [] };
    let changed = () => {};
    const session = new Session({
        module, name, token, dial,
        onState: (state, text) => {
            seen.states.push({ state, text });
            changed();
        },
        onHello: reported => seen.hello = reported,
        onTaken: ({ bytes }) => seen.bytes.push(bytes),
        onAnswer: () => {},
        onPicture: () => setImmediate(() => {
            if (!session.decoder) return;
            ++seen.pictures;
            seen.latencies.push(session.decoder.state(performance.now() * 1000).latencyMs);
            session.painted();
            onPicture(session, seen);
            changed();
        })
    });
    context.after(() => session.close());
    /** Waits until a condition on the recorded events is true. */
    const until = is => new Promise(resolve => {
        changed = () => is(seen) && resolve(seen);
        changed();
    });
    session.open();
    return { session, seen, until };
}

const newest = seen => seen.states.at(-1)?.state;

for (const [what, ...flags] of [
         ["exact", "--threshold", "20"], ["lossless", "--mode", "lossless"], ["bounded", "--mode", "bounded"],
         ["bounded by less", "--mode", "bounded", "--threshold", "8"]
     ])
    test(`a stream decodes to the pixels that view records: ${what}`, patience, async context => {
        const recorded = join(folderOf(context), "seen.bgr");
        const input = "synth:size=333x211:noise=3:objects=4:fps=60:frames=90";
        const { port } = await serve(context, "-i", input, "--wait", "2", ...flags);
        const view = run(context, "view", `tcp://127.0.0.1:${port}`, "--no-window", "-o", recorded);
        const { session, until } = watch(context, dialTcp(port));
        const seen = await until(reported => newest(reported) === "ended");
        assert.equal(await view, 0);
        assert.deepEqual([seen.hello.width, seen.hello.height, seen.hello.rate], [333, 211, 60]);
        const held = Buffer.from(session.decoder.picture()), all = readFileSync(recorded);
        assert.ok(held.equals(all.subarray(all.length - 333 * 211 * 3)));
        assert.ok(seen.pictures > 10, `${seen.pictures} pictures`);
        assert.deepEqual(seen.states.map(({ state }) => state), ["connecting", "live", "ended"]);
        const latencies = seen.latencies.filter(latency => latency !== null);
        assert.ok(latencies.length > 0 && latencies.every(latency => latency >= 0), `${latencies}`);
    });

test("resumes from the blocks held after a loss", patience, async context => {
    const { port } = await serve(context, "-i", "synth:size=640x360:noise=0:objects=2:frames=150:fps=60", "--wait", "1");
    const sockets = [], dial = dialTcp(port);
    const { session, until } = watch(context, handlers => sockets[sockets.push(dial(handlers)) - 1], {
        // Like a network failure: the session only sees that the connection ended.
        onPicture: (_, { pictures }) => {
            if (pictures === 20) broken(sockets[0]);
        }
    });
    const broken = ({ close }) => {
        close();
        session.pause();
        session.open();
    };
    const seen = await until(reported => newest(reported) === "ended");
    assert.equal(sockets.length, 2);
    // Only the first message is a keyframe. The others are far smaller.
    const [first, ...others] = seen.bytes;
    assert.ok(Math.max(...others) < first / 4, `${first}, then up to ${Math.max(...others)}`);
});

/** Limits a connection to a rate, with a pause from time to time. */
function slowly(dial, bytesPerSecond, restMs = 0) {
    const tickMs = 20, restEvery = 100;
    return handlers => {
        const waiting = [];
        let ticks = 0, resting = 0;
        const timer = setInterval(() => {
            if (restMs > 0 && ++ticks % restEvery === 0) resting = restMs / tickMs;
            if (resting-- > 0) return;
            for (let room = bytesPerSecond * tickMs / 1000; room > 0 && waiting.length;) {
                const next = waiting.shift();
                if (next.length > room) waiting.unshift(next.subarray(room));
                handlers.received(next.subarray(0, room));
                room -= Math.min(room, next.length);
            }
        }, tickMs);
        const connection = dial({ ...handlers, received: bytes => waiting.push(bytes) });
        return { ...connection, close: () => (clearInterval(timer), connection.close()) };
    };
}

for (const [what, mode, rate, restMs] of [
         ["on a slow line", "exact", 60_000, 0], ["that rests", "lossless", 600_000, 700]
     ])
    test(`a viewer ${what} paints only complete frames`, patience, async context => {
        const width = 320, height = 192, frames = 40, threshold = mode === "lossless" ? 0 : 12;
        const folder = folderOf(context), source = join(folder, "source.bgr");
        const scene = `synth:size=${width}x${height}:fps=30:noise=4:objects=5:seed=3:frames=${frames}`;
        assert.equal(await run(context, "run", "-i", scene, "-o", source), 0);
        const all = readFileSync(source), size = width * height * 3;
        const { port } = await serve(context, "-i", `raw:${source}:size=${width}x${height}:format=bgr:fps=10`, "--loop",
                                     "--mode", mode, "--threshold", `${threshold}`, "--refine", "0");
        let parts = 0, checked = 0;
        const { session, until } = watch(context, slowly(dialTcp(port), rate, restMs), {
            onPicture: (session, seen) => {
                const state = session.decoder.state(0), picture = session.decoder.picture();
                const from = state.frame % frames * size, frame = all.subarray(from, from + size);
                let largest = 0;
                for (let at = 0; at < size; ++at) largest = Math.max(largest, Math.abs(picture[at] - frame[at]));
                assert.ok(largest <= state.threshold, `frame ${state.frame}: ${largest} of ${state.threshold}`);
                ++checked;
                parts = seen.bytes.length - seen.pictures;
            }
        });
        await until(() => checked >= 12);
        assert.ok(session.decoder.state(0).dropped > 0 || parts > 0, "the line took all there was");
    });

test("a pause disconnects and keeps the picture", patience, async context => {
    const { port, says } = await serve(context, "-i", "synth:size=128x128:fps=60");
    const { session, seen, until } = watch(context, dialTcp(port));
    await until(reported => reported.pictures > 5);
    session.pause();
    const { pictures } = seen;
    assert.equal(newest(seen), "paused");
    assert.equal(session.decoder.picture().length, 128 * 128 * 3);
    await says(" left");
    assert.ok(seen.pictures <= pictures + 1);
    session.open();
    await until(reported => reported.pictures > pictures + 5);
    assert.equal(newest(seen), "live");
});

test("retries if the server is missing, but not with a wrong token", patience, async context => {
    const file = join(folderOf(context), "token");
    writeFileSync(file, "a-token-of-some-length\n", { mode: 0o600 });
    const { port, kill } = await serve(context, "-i", "synth:size=64x64:fps=30", "--token-file", file);
    const right = watch(context, dialTcp(port), { token: "a-token-of-some-length" });
    await right.until(reported => reported.pictures > 2);
    const wrong = watch(context, dialTcp(port), { token: "another-token-of-some-length" });
    await wrong.until(reported => newest(reported) === "refused");
    const elsewhere = watch(context, dialTcp(port), { token: "a-token-of-some-length", name: "attic" });
    await elsewhere.until(reported => newest(reported) === "lost");
    assert.match(elsewhere.seen.states.at(-1).text, /main/);
    kill();
    await right.until(reported => reported.states.filter(({ state }) => state === "lost").length > 2);
    assert.deepEqual(wrong.seen.states.map(({ state }) => state), ["connecting", "refused"]);
});

test("after a protocol violation it reconnects and holds nothing", patience, async context => {
    const greetings = [];
    const server = createServer(socket => {
        socket.on("error", () => {});
        socket.on("data", bytes => {
            greetings.push(bytes);
            const shape = { width: 64, height: 64, channels: 3 };
            socket.write(Buffer.concat([
                preamble(), message(messageTypes.hello, hello(shape)), message(messageTypes.picture, Buffer.alloc(99, 7))
            ]));
        });
    });
    await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
    context.after(() => server.close());
    const { session, seen, until } = watch(context, dialTcp(server.address().port));
    await until(reported => reported.states.filter(({ state }) => state === "lost").length === 3);
    session.close();
    assert.equal(greetings.length, 3);
    // Nothing is held: epoch and number of runs are 0.
    for (const greeting of greetings) assert.ok(greeting.subarray(-10).equals(Buffer.alloc(10)));
    assert.match(seen.states.at(-1).text, /frame header is invalid/);
});
