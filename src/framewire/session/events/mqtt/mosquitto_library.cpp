#include "framewire/session/events/mqtt/mosquitto_library.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/late_library/late_library.hpp"

namespace framewire::session {
namespace {

// Resolves every function at once, so that a library that lacks one is reported at the first use.
MosquittoLibrary load() {
    const LateLibrary library("libmosquitto.so.1");
    const auto begin = library.function<decltype(mosquitto_lib_init)>("mosquitto_lib_init");
    if (begin() != MOSQ_ERR_SUCCESS) fail(ErrorCode::config, "libmosquitto.so.1 cannot begin");
    MosquittoLibrary found{};
    const auto take = [&library]<class Function>(Function*& pointer, const char* name) {
        pointer = library.function<Function>(name);
    };
    take(found.create, "mosquitto_new");
    take(found.destroy, "mosquitto_destroy");
    take(found.set_option, "mosquitto_int_option");
    take(found.set_user, "mosquitto_username_pw_set");
    take(found.set_tls, "mosquitto_tls_set");
    take(found.set_will, "mosquitto_will_set");
    take(found.on_answer, "mosquitto_connect_callback_set");
    take(found.on_acknowledged, "mosquitto_publish_callback_set");
    take(found.on_log, "mosquitto_log_callback_set");
    take(found.connect, "mosquitto_connect_async");
    take(found.disconnect, "mosquitto_disconnect");
    take(found.publish, "mosquitto_publish");
    take(found.socket, "mosquitto_socket");
    take(found.wants_to_write, "mosquitto_want_write");
    take(found.read, "mosquitto_loop_read");
    take(found.write, "mosquitto_loop_write");
    take(found.look_after, "mosquitto_loop_misc");
    take(found.words, "mosquitto_strerror");
    return found;
}

}  // namespace

const MosquittoLibrary& mosquitto_library() {
    static const MosquittoLibrary library = load();
    return library;
}

}  // namespace framewire::session
