/** Where the server's addresses begin: a reverse proxy may show it below a path of its own. */
const root = new URL("../../", import.meta.url);

/** @param {string} path without a "/" before it @returns {URL} */
export const addressOf = (path) => new URL(path, root);
