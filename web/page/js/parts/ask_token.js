import { make, freshId } from "../dom.js";
import { api } from "../server/api.js";
import { keepToken } from "../server/token.js";
import { openDialog } from "./dialog.js";

/** @type {Promise<void> | null} */
let asking = null;

/** Asks the user for the server's token until the server accepts it. @param {string} why the server's refusal */
export function askToken(why) {
    asking ??= ask(why).finally(() => (asking = null));
    return asking;
}

/** Opens the dialog. */
function ask(why) {
    return new Promise((resolve) => {
        const id = freshId("token");
        const input = make("input", {
            id,
            type: "password",
            autocomplete: "current-password",
            required: true,
            spellcheck: "false",
            "aria-describedby": `${id}-why`,
        });
        const refusal = make("p", { class: "refusal", role: "alert", id: `${id}-why` }, why);
        const enter = make("button", { class: "button main", type: "submit" }, "Enter");
        const form = make(
            "form",
            { class: "token-form" },
            make("p", { class: "soft" }, "The server prints its token when it starts, or reads it from its --token-file."),
            make("label", { for: id }, "Token"),
            input,
            refusal,
            enter,
        );
        const dialog = openDialog("This server wants a token", { closable: false }, form);
        form.addEventListener("submit", async (event) => {
            event.preventDefault();
            enter.disabled = true;
            keepToken(input.value.trim());
            try {
                await api.cameras();
                dialog.close();
                resolve();
            } catch (refused) {
                keepToken("");
                refusal.textContent = refused.message;
                input.select();
            }
            enter.disabled = false;
        });
        input.focus();
    });
}
