/** Base of the server's addresses. A reverse proxy may publish the server below a path. */
const root = new URL("../../", import.meta.url);

/**
 * Returns the address of a path on the server.
 * @param {string} path without a leading "/"
 * @returns {URL}
 */
export const addressOf = (path) => new URL(path, root);
