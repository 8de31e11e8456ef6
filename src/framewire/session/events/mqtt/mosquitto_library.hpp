#pragma once

#include <mosquitto.h>

#include <type_traits>

namespace framewire::session {

/// The functions of libmosquitto that are used. The library is loaded only if a broker is configured.
struct MosquittoLibrary {
    template <class Function>
    using Pointer = std::add_pointer_t<Function>;

    // Named for what they do here; mosquitto_library.cpp lists their original names.
    Pointer<decltype(mosquitto_new)> create;
    Pointer<decltype(mosquitto_destroy)> destroy;
    // Set up a client before it connects.
    Pointer<decltype(mosquitto_int_option)> set_option;
    Pointer<decltype(mosquitto_username_pw_set)> set_user;
    Pointer<decltype(mosquitto_tls_set)> set_tls;
    Pointer<decltype(mosquitto_will_set)> set_will;
    // Register callbacks: answer to a connection, acknowledgement of a message, log line.
    Pointer<decltype(mosquitto_connect_callback_set)> on_answer;
    Pointer<decltype(mosquitto_publish_callback_set)> on_acknowledged;
    Pointer<decltype(mosquitto_log_callback_set)> on_log;
    // Begin and end a connection, and queue a message.
    Pointer<decltype(mosquitto_connect_async)> connect;
    Pointer<decltype(mosquitto_disconnect)> disconnect;
    Pointer<decltype(mosquitto_publish)> publish;
    // Drive the connection: its descriptor, reading, writing, and keep-alive.
    Pointer<decltype(mosquitto_socket)> socket;
    Pointer<decltype(mosquitto_want_write)> wants_to_write;
    Pointer<decltype(mosquitto_loop_read)> read;
    Pointer<decltype(mosquitto_loop_write)> write;
    Pointer<decltype(mosquitto_loop_misc)> look_after;
    // Text of a status code.
    Pointer<decltype(mosquitto_strerror)> words;
};

/// Returns the functions; the first call loads the library. Thread-safe. Throws Error{config} if it is not installed.
const MosquittoLibrary& mosquitto_library();

}  // namespace framewire::session
