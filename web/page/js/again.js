// Reloads the page if one of its files could not be loaded, for example because the network changed. This is not a
// module, because modules may be what is missing.
(() => {
    const longestMs = 5000;
    const health = new URL("../healthz", /** @type {HTMLScriptElement} */ (document.currentScript).src);
    const tries = history.state?.tries ?? 0;
    let isMissing = false;

    // Waits until the server answers. If the page were reloaded before, the browser would show its own error page,
    // which does not retry.
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
