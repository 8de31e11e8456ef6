// Compares the page's parser and formatter for chains with the program's.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { formatChain, parseChain } from "../page/js/panel/chain_text.js";
import { folderOf, program } from "../stream/tests/programs.js";

const filters = JSON.parse(execFileSync(program, ["filters", "--json"], { encoding: "utf8" }));
const rewritten = (text) => formatChain(parseChain(text, filters), filters);

test("every example is parsed and formatted with the same meaning", () => {
    const examples = filters.flatMap((filter) => filter.examples);
    assert.ok(examples.length > 30);
    for (const example of examples) {
        const text = rewritten(example);
        assert.equal(rewritten(text), text);
        assert.deepEqual(parseChain(text, filters), parseChain(example, filters), example);
    }
});

test("quoted values are preserved", () => {
    const [text] = parseChain(String.raw`text='a:b, c=d':x=12:font=it\'s`, filters);
    assert.deepEqual(text.values, { text: ["a:b, c=d"], x: ["12"], font: ["it's"] });
    for (const words of ["it's 5:00, isn't it", "", " edges ", "back\\slash", "a=b"]) {
        const chain = formatChain([{ name: "text", values: { text: [words] }, on: true }], filters);
        assert.deepEqual(parseChain(chain, filters)[0].values.text, [words], chain);
    }
});

test("values can be repeated and given without keys", () => {
    assert.deepEqual(parseChain("mosaic=32:zone='0,0,9,9':zone='1,1,8,8'", filters)[0].values, {
        cell: ["32"],
        zone: ["0,0,9,9", "1,1,8,8"],
    });
    assert.deepEqual(parseChain("crop=640:480:x=16", filters)[0].values, { w: ["640"], h: ["480"], x: ["16"] });
});

test("rejects invalid text", () => {
    assert.throws(() => parseChain("blurr=5", filters), /no filter 'blurr'/);
    assert.throws(() => parseChain("gaussian=size=5:colour=2", filters), /no parameter 'colour'/);
    assert.throws(() => parseChain("text='open", filters), /never closed/);
    assert.throws(() => parseChain("gray,", filters), /no filter ''/);
});

test("the program accepts the formatted text", (t) => {
    const chain = rewritten("gaussian=5:sigma=1.5,text='frame {frame}, {time}':x=4,mosaic=8:zone='0,0,16,16'");
    const out = join(folderOf(t), "out.bgr");
    execFileSync(program, ["run", "-i", "synth:size=64x48:fps=5", "-f", chain, "--frames", "1", "-o", out], { stdio: "pipe" });
    assert.equal(statSync(out).size, 64 * 48 * 3);
});
