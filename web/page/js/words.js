// Numbers formatted for people.

/**
 * Returns true for a finite number.
 * @param {number | null | undefined} value
 * @returns {boolean}
 */
const isThere = (value) => typeof value === "number" && Number.isFinite(value);

/** Formats a number, or "-" if there is none. @returns {string} */
export function decimal(value, digits = 1) {
    return isThere(value) ? value.toFixed(digits) : "-";
}

/** Formats a bitrate such as "18.1 Mbit/s". @returns {string} */
export function bitrate(bits) {
    if (!isThere(bits)) return "-";
    if (bits >= 1e9) return `${(bits / 1e9).toFixed(2)} Gbit/s`;
    if (bits >= 1e6) return `${(bits / 1e6).toFixed(bits >= 1e8 ? 0 : bits >= 1e7 ? 1 : 2)} Mbit/s`;
    return `${(bits / 1e3).toFixed(bits >= 1e5 ? 0 : 1)} kbit/s`;
}

/** Formats a share from 0 to 1 such as "2.71 %". @returns {string} */
export function percent(share) {
    return isThere(share) ? `${(share * 100).toFixed(share < 0.1 ? 2 : 1)} %` : "-";
}

/** Formats a size such as "12.3 MB". @returns {string} */
export function bytes(count) {
    if (!isThere(count)) return "-";
    if (count >= 1e9) return `${(count / 1e9).toFixed(2)} GB`;
    if (count >= 1e6) return `${(count / 1e6).toFixed(1)} MB`;
    return `${(count / 1e3).toFixed(count >= 1e5 ? 0 : 1)} kB`;
}

/** Formats a duration such as "1:05" or "1:02:03". @returns {string} */
export function duration(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const two = (value) => String(value).padStart(2, "0");
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor(whole / 60) % 60;
    return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Formats a time such as "20261123-190455", for file names. @returns {string} */
export function stamp(date = new Date()) {
    const two = (value) => String(value).padStart(2, "0");
    return (
        `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}-` +
        `${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`
    );
}

