/**
 * A session's connection over a WebSocket. The messages form one byte stream.
 * @param {string} url
 * @param {import("./session.js").Handlers} handlers
 * @returns {import("./session.js").Connection}
 */
export function dialWebSocket(url, { opened, received, closed }) {
    const socket = new WebSocket(url, "framewire");
    socket.binaryType = "arraybuffer";
    socket.onopen = opened;
    socket.onmessage = ({ data }) => data instanceof ArrayBuffer ? received(new Uint8Array(data))
                                                               : closed("the server sends text");
    socket.onclose = ({ reason }) => closed(reason || "the connection was closed");
    return {
        send: bytes => {
            if (socket.readyState === WebSocket.OPEN) socket.send(bytes);
        },
        close: () => socket.close()
    };
}
