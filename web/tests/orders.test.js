// Requests of one control: one in progress, and the newest of those that arrive meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Orders } from "../page/js/server/orders.js";

test("keeps only the newest request while one is in progress", async () => {
    const sent = [];
    const done = [];
    const answers = [];
    const orders = new Orders(
        (asked) => {
            sent.push(asked);
            return new Promise((resolve) => answers.push(() => resolve(`${asked} done`)));
        },
        { done: (answer) => done.push([answer, orders.pending]) },
    );
    const first = orders.order("a");
    for (const asked of ["b", "c", "d"]) await orders.order(asked);
    assert.deepEqual(sent, ["a"]);
    answers[0]();
    await new Promise(setImmediate);
    assert.deepEqual(sent, ["a", "d"]);
    answers[1]();
    await first;
    assert.deepEqual(done, [["d done", false]]);
});

test("shows a refusal until a later request is accepted", async () => {
    const reported = [];
    const orders = new Orders(
        async (asked) => {
            if (asked === "bad") throw new Error("it is bad");
        },
        { refused: (text) => reported.push(text) },
    );
    await orders.order("bad");
    assert.equal(orders.pending, false);
    await orders.order("good");
    assert.deepEqual(reported, ["it is bad", ""]);
});

test("sends the newest request of each setting", async () => {
    const sent = [];
    const answers = [];
    const orders = new Orders(
        (asked) => {
            sent.push(asked);
            return new Promise((resolve) => answers.push(resolve));
        },
        {},
    );
    const first = orders.order({ filter: 1, on: false }, "filter 1");
    orders.order({ filter: 2, on: false }, "filter 2");
    orders.order({ filter: 3, on: false }, "filter 3");
    orders.order({ filter: 2, on: true }, "filter 2");
    for (const expected of [1, 2, 3]) {
        assert.equal(sent.length, expected);
        answers[expected - 1]();
        await new Promise(setImmediate);
    }
    await first;
    assert.deepEqual(sent, [
        { filter: 1, on: false },
        { filter: 3, on: false },
        { filter: 2, on: true },
    ]);
});

test("shows a refusal until the next new request", async () => {
    const reported = [];
    const answers = [];
    const orders = new Orders(
        (asked) =>
            new Promise((resolve, reject) => answers.push(asked === "bad" ? () => reject(new Error("it is bad")) : resolve)),
        { refused: (text) => reported.push(text) },
    );
    const first = orders.order("bad", "a");
    orders.order("good", "b");
    answers[0]();
    await new Promise(setImmediate);
    answers[1]();
    await first;
    assert.deepEqual(reported, ["it is bad", "it is bad"]);
});
