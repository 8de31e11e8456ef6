import { connect } from "node:net";

/** A `dial` function for Session over TCP, which carries the same bytes as the WebSocket. */
export function dialTcp(port) {
    return ({ opened, received, closed }) => {
        const socket = connect({ host: "127.0.0.1", port, noDelay: true }, () => opened());
        socket.on("data", received);
        socket.on("error", error => closed(error.message));
        socket.on("end", () => closed("the server closed the connection"));
        return { send: bytes => socket.write(bytes), close: () => socket.destroy() };
    };
}
