// Tests that the API's document is valid and that a running server answers accordingly.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { createConfig, lint } from "@redocly/openapi-core";
import Ajv from "ajv/dist/2020.js";

import { folderOf, serve } from "../stream/tests/programs.js";
import { until } from "./kit/shown.js";

const file = fileURLToPath(new URL("../../src/framewire/service/web/openapi.json", import.meta.url));

test("the document passes its linter", async () => {
    // The mjpg-streamer address of a camera ends with a slash.
    const config = await createConfig({ extends: ["recommended"], rules: { "no-path-trailing-slash": "off" } });
    const problems = await lint({ ref: file, config });
    assert.deepEqual(
        problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
        [],
    );
});

const pointer = (...parts) => parts.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");

test("a running server's responses match the document", async (t) => {
    const source = "synth:size=160x90:fps=10";
    const { port } = await serve(t, "-i", source, "--controls", "--detect", "--video", "--record-dir", folderOf(t));
    const address = `http://127.0.0.1:${port}`;
    await until("a first frame", async () => (await fetch(`${address}/readyz`)).status === 200);
    const api = await (await fetch(`${address}/api/openapi.json`)).json();
    const ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addSchema(api, "api");
    const check = (where, value, what) => {
        const isRight = ajv.compile({ $ref: `api#/${encodeURI(where)}` });
        assert.ok(isRight(value), `${what}: ${ajv.errorsText(isRight.errors)}`);
    };
    /** Returns the location of a response's schema after resolving references, or null if the response is not JSON. */
    const schemaOf = (path, method, status) => {
        const { $ref } = api.paths[path][method].responses[status] ?? assert.fail(`${method} ${path} ${status} is not documented`);
        const at = $ref ? $ref.slice(2) : pointer("paths", path, method, "responses", String(status));
        const response = at.split("/").reduce((value, part) => value[part.replaceAll("~1", "/").replaceAll("~0", "~")], api);
        return response.content?.["application/json"] ? `${at}/${pointer("content", "application/json", "schema")}` : null;
    };
    const ask = async (path, method, body, status) => {
        const response = await fetch(address + path.replace("{camera}", "main").replace("{file}", "init-1.mp4"), {
            method: method.toUpperCase(),
            headers: body === undefined ? {} : { "Content-Type": "application/json" },
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        const what = `${method} ${path} ${JSON.stringify(body) ?? ""}`;
        assert.equal(response.status, status, `${what}: ${response.status}`);
        const schema = schemaOf(path, method, status);
        if (schema) check(schema, await response.json(), what);
        else await response.body?.cancel();
        if (body !== undefined && status === 200)
            check(pointer("paths", path, method, "requestBody", "content", "application/json", "schema"), body, what);
        return schema !== null;
    };

    const asked = Object.entries(api.paths).filter(([path, operations]) => operations.get && path !== "/{camera}/" && path !== "/api/events");
    let json = 0;
    for (const [path] of asked) json += Number(await ask(path, "get", undefined, 200));
    assert.ok(json >= 5, `${json} answers are JSON`);

    const of = (what) => `/api/cameras/{camera}/${what}`;
    await ask(of("chain"), "put", { chain: "gaussian=5,text={fps}" }, 200);
    await ask(of("controls"), "put", { brightness: 10, contrast: 1.2 }, 200);
    await ask(of("controls"), "put", { filter: 1, on: false }, 200);
    await ask(of("threshold"), "put", { threshold: 8 }, 200);
    await ask(of("zones"), "put", { zones: [{ kind: "privacy", x: 0, y: 0, width: 32, height: 16 }] }, 200);
    const yard = { name: "yard", polygon: [[0, 0], [160, 0], [160, 90]], loiter: 5, events: ["enter", "loiter"] };
    const gate = { name: "gate", line: [[80, 0], [80, 90]], directions: ["in", "out"], anchor: "centre", min_area: 20 };
    await ask(of("event-zones"), "put", { zones: [yard, gate], size: [160, 90], hysteresis: 0.2 }, 200);
    await ask(of("event-zones"), "put", { zones: [{ name: "yard" }] }, 400);
    await ask(of("record"), "post", { on: true }, 200);
    await until("frames are recorded", async () => (await (await fetch(`${address}/api/cameras/main`)).json()).recording.seconds > 0);
    await ask(of("record"), "post", { on: false }, 200);
    await ask(of("snapshot"), "post", {}, 200);
    await ask(of("chain"), "put", { chain: "no-such-filter" }, 400);
    await ask(of("zones"), "put", { zones: [{ kind: "privacy", x: 0, y: 0, width: 0, height: 16 }] }, 400);
    await ask(of("record"), "post", { on: true, more: 1 }, 400);
});
