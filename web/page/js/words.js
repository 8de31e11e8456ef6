// Figures as people read them.

/** @param {number | null | undefined} value @returns {boolean} */
const isThere = (value) => typeof value === "number" && Number.isFinite(value);

/** @returns {string} "-" where there is no figure */
export function decimal(value, digits = 1) {
    return isThere(value) ? value.toFixed(digits) : "-";
}

/** @returns {string} "18.1 Mbit/s" */
export function bitrate(bits) {
    if (!isThere(bits)) return "-";
    if (bits >= 1e9) return `${(bits / 1e9).toFixed(2)} Gbit/s`;
    if (bits >= 1e6) return `${(bits / 1e6).toFixed(bits >= 1e8 ? 0 : bits >= 1e7 ? 1 : 2)} Mbit/s`;
    return `${(bits / 1e3).toFixed(bits >= 1e5 ? 0 : 1)} kbit/s`;
}

/** @returns {string} "2.71 %" of a share from 0 to 1 */
export function percent(share) {
    return isThere(share) ? `${(share * 100).toFixed(share < 0.1 ? 2 : 1)} %` : "-";
}

/** @returns {string} "12.3 MB" */
export function bytes(count) {
    if (!isThere(count)) return "-";
    if (count >= 1e9) return `${(count / 1e9).toFixed(2)} GB`;
    if (count >= 1e6) return `${(count / 1e6).toFixed(1)} MB`;
    return `${(count / 1e3).toFixed(count >= 1e5 ? 0 : 1)} kB`;
}

/** @returns {string} "1:05" or "1:02:03" */
export function duration(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const two = (value) => String(value).padStart(2, "0");
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor(whole / 60) % 60;
    return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** @returns {string} "20261123-190455", for names of files */
export function stamp(date = new Date()) {
    const two = (value) => String(value).padStart(2, "0");
    return (
        `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}-` +
        `${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`
    );
}
