// Loads the page again when a part of it does not come, as when a network changes meanwhile. It is no module, since those may
// be what is missing.
(() => {
    const longestMs = 5000;
    const health = new URL("../healthz", /** @type {HTMLScriptElement} */ (document.currentScript).src);
    const tries = history.state?.tries ?? 0;
    let isMissing = false;

    // A server that is gone would leave the browser's own page of errors, which asks nobody again.
    async function loadAgain() {
        const answers = await fetch(health, { cache: "no-store" }).then(
            (answer) => answer.ok,
            () => false,
        );
        if (!answers) return setTimeout(loadAgain, longestMs);
        history.replaceState({ tries: tries + 1 }, "");
        location.reload();
    }

    addEventListener(
        "error",
        ({ target }) => {
            const isPart = target instanceof HTMLScriptElement || target instanceof HTMLLinkElement;
            if (!isPart || isMissing) return;
            isMissing = true;
            setTimeout(loadAgain, Math.min(100 * 2 ** tries, longestMs));
        },
        true,
    );
})();
