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
    Pointer<decltype(mosquitto_int_option)> set_option;
    Pointer<decltype(mosquitto_username_pw_set)> set_user;
    Pointer<decltype(mosquitto_tls_set)> set_tls;
    Pointer<decltype(mosquitto_will_set)> set_will;
    Pointer<decltype(mosquitto_connect_callback_set)> on_answer;
    Pointer<decltype(mosquitto_publish_callback_set)> on_acknowledged;
    Pointer<decltype(mosquitto_log_callback_set)> on_log;
    Pointer<decltype(mosquitto_connect_async)> connect;
    Pointer<decltype(mosquitto_disconnect)> disconnect;
    Pointer<decltype(mosquitto_publish)> publish;
    Pointer<decltype(mosquitto_socket)> socket;
    Pointer<decltype(mosquitto_want_write)> wants_to_write;
    Pointer<decltype(mosquitto_loop_read)> read;
    Pointer<decltype(mosquitto_loop_write)> write;
    Pointer<decltype(mosquitto_loop_misc)> look_after;
    Pointer<decltype(mosquitto_strerror)> words;
};

/// Returns the functions; the first call loads the library. Thread-safe. Throws Error{config} if it is not installed.
const MosquittoLibrary& mosquitto_library();

}  // namespace framewire::session
