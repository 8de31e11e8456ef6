// Orders of one control: one on its way, and the newest of what came meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Orders } from "../page/js/server/orders.js";

test("what came while one was on its way is left out, but the newest", async () => {
    const sent = [];
    const done = [];
    const answers = [];
    const orders = new Orders(
        (wish) => {
            sent.push(wish);
            return new Promise((resolve) => answers.push(() => resolve(`${wish} done`)));
        },
        { done: (answer) => done.push([answer, orders.pending]) },
    );
    const first = orders.order("a");
    for (const wish of ["b", "c", "d"]) await orders.order(wish);
    assert.deepEqual(sent, ["a"]);
    answers[0]();
    await new Promise(setImmediate);
    assert.deepEqual(sent, ["a", "d"]);
    answers[1]();
    await first;
    assert.deepEqual(done, [["d done", false]]);
});

test("a refusal is told, and goes with the next order that is taken", async () => {
    const told = [];
    const orders = new Orders(
        async (wish) => {
            if (wish === "bad") throw new Error("it is bad");
        },
        { refused: (text) => told.push(text) },
    );
    await orders.order("bad");
    assert.equal(orders.pending, false);
    await orders.order("good");
    assert.deepEqual(told, ["it is bad", ""]);
});
