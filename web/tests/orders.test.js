// Requests of one control: one in progress, and the newest of those that arrive meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Orders } from "../page/js/server/orders.js";

test("keeps only the newest request while one is in progress", async () => {
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

test("shows a refusal until a later request is accepted", async () => {
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

test("sends the newest request of each setting", async () => {
    const sent = [];
    const answers = [];
    const orders = new Orders(
        (wish) => {
            sent.push(wish);
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
    const told = [];
    const answers = [];
    const orders = new Orders(
        (wish) =>
            new Promise((resolve, reject) => answers.push(wish === "bad" ? () => reject(new Error("it is bad")) : resolve)),
        { refused: (text) => told.push(text) },
    );
    const first = orders.order("bad", "a");
    orders.order("good", "b");
    answers[0]();
    await new Promise(setImmediate);
    answers[1]();
    await first;
    assert.deepEqual(told, ["it is bad", "it is bad"]);
});
