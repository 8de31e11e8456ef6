// Tests the requests of one control: one is in progress, and only the newest of those that arrive meanwhile waits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ControlRequests } from "../page/js/server/control_requests.js";

test("keeps only the newest request while one is in progress", async () => {
    const sent = [];
    const done = [];
    const answers = [];
    const requests = new ControlRequests(
        (asked) => {
            sent.push(asked);
            return new Promise((resolve) => answers.push(() => resolve(`${asked} done`)));
        },
        { done: (answer) => done.push([answer, requests.pending]) },
    );
    const first = requests.request("a");
    for (const asked of ["b", "c", "d"]) await requests.request(asked);
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
    const requests = new ControlRequests(
        async (asked) => {
            if (asked === "bad") throw new Error("it is bad");
        },
        { refused: (text) => reported.push(text) },
    );
    await requests.request("bad");
    assert.equal(requests.pending, false);
    await requests.request("good");
    assert.deepEqual(reported, ["it is bad", ""]);
});

test("sends the newest request of each setting", async () => {
    const sent = [];
    const answers = [];
    const requests = new ControlRequests(
        (asked) => {
            sent.push(asked);
            return new Promise((resolve) => answers.push(resolve));
        },
        {},
    );
    const first = requests.request({ filter: 1, on: false }, "filter 1");
    requests.request({ filter: 2, on: false }, "filter 2");
    requests.request({ filter: 3, on: false }, "filter 3");
    requests.request({ filter: 2, on: true }, "filter 2");
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
    const requests = new ControlRequests(
        (asked) =>
            new Promise((resolve, reject) => answers.push(asked === "bad" ? () => reject(new Error("it is bad")) : resolve)),
        { refused: (text) => reported.push(text) },
    );
    const first = requests.request("bad", "a");
    requests.request("good", "b");
    answers[0]();
    await new Promise(setImmediate);
    answers[1]();
    await first;
    assert.deepEqual(reported, ["it is bad", "it is bad"]);
});
