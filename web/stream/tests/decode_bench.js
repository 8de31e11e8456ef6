// Measures the processor time per keyframe or delta frame: node decode_bench.js SOURCE [OPTIONS OF SERVE].

import { Decoder } from "../decoder.js";
import { MessageReader } from "../message_reader.js";
import { serve } from "./programs.js";
import { module } from "./server_bytes.js";
import { dialTcp } from "./tcp_socket.js";

const rounds = 5;
const context = { after: end => process.on("exit", end) };
const { port } = await serve(context, "-i", ...process.argv.slice(2), "--wait", "1");

// The messages that the server sends to an up-to-date viewer.
const messages = await new Promise(resolve => {
    const decoder = new Decoder(module), kept = [];
    let count = 0;
    const reader = new MessageReader(decoder, (type, content) => {
        kept.push({ type, content: Uint8Array.from(content) });
        decoder.take(type, content, 0);
        if (Decoder.carriesState(type))
            connection.send(decoder.drawn(
                { messages: ++count, version: decoder.state(0).version, clockUs: 0, heldUs: 0, comingUs: 0 }));
        return true;
    });
    const connection = dialTcp(port)({
        opened: () => connection.send(decoder.greet("main", "")),
        received: bytes => reader.read(bytes, 0),
        closed: () => resolve(kept)
    });
});

let best = Infinity, bytes = 0, changed = 0, count = 0;
for (let round = 0; round < rounds; ++round) {
    const decoder = new Decoder(module);
    let us = 0;
    bytes = changed = count = 0;
    for (const { type, content } of messages) {
        const before = process.cpuUsage();
        decoder.take(type, content, 0);
        const { user, system } = process.cpuUsage(before);
        // The first picture also builds tables, so it is not measured.
        if (!Decoder.carriesState(type) || decoder.state(0).version < 3) continue;
        us += user + system;
        bytes += content.length;
        changed += decoder.lastChanged();
        ++count;
    }
    best = Math.min(best, us / count / 1000);
    if (round === 0) {
        const { width, height, channels } = decoder.hello();
        console.log(`${width}x${height}, ${count} states, ${(changed / count / width / height / channels * 100).toFixed(2)} % `
            + `of the bytes changed, ${(bytes / count / 1000).toFixed(1)} kB each`);
    }
}
console.log(`${best.toFixed(2)} ms of processor time for each state`);
