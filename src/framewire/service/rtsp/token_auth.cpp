#include "framewire/service/rtsp/token_auth.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace framewire::service {
namespace {

std::string md5(const std::string& text) {
    return taken_text(g_compute_checksum_for_data(G_CHECKSUM_MD5, reinterpret_cast<const guchar*>(text.data()),
                                                  static_cast<gsize>(text.size())));
}

}  // namespace

std::string digest_response(const DigestCredentials& credentials, std::string_view password, std::string_view method) {
    const auto secret = md5(fmt::format("{}:{}:{}", credentials.user, credentials.realm, password));
    return md5(fmt::format("{}:{}:{}", secret, credentials.nonce, md5(fmt::format("{}:{}", method, credentials.uri))));
}

std::string peer_of(const std::string& address) {
    const auto client = net::TrustedProxies().client_of({address});
    return client ? client->peer : address;
}

RtspLogins::Verdict RtspLogins::check(const std::string& peer, const std::optional<DigestCredentials>& credentials,
                                      const std::string& nonce, std::string_view method) {
    if (token_.empty()) return Verdict::let_in;
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    auto why = gate_.closed_to(peer, now);
    if (!why) {
        // A nonce belongs to one connection, so that a response that somebody has overheard is worthless on another.
        if (!credentials || nonce.empty() || credentials->nonce != nonce || credentials->realm != realm)
            return Verdict::asked;
        const net::TokenCheck expected(digest_response(*credentials, token_, method));
        const bool right = expected.matches(credentials->response);
        // A blank makes it differ from every token.
        why = gate_.check(peer, right ? token_ : ' ' + credentials->response, now);
        if (!why) return Verdict::let_in;
    }
    ++refused_;
    refusals_.line_of(peer, "an RTSP client at {} was refused: {}", peer, why->text);
    return why->reason == net::Refusal::too_many_viewers ? Verdict::locked_out : Verdict::wrong;
}

namespace {

// The object that GStreamer calls. GLib allocates and frees it, so it has no constructor.
struct TokenAuth {
    GstRTSPAuth parent;
    std::shared_ptr<RtspLogins>* logins;
    LetIn* let_in;
};
struct TokenAuthClass {
    GstRTSPAuthClass parent;
};

gpointer auth_parent = nullptr;

constexpr const char* nonce_key = "framewire-nonce";

// Returns the nonce that was sent on the client's connection; empty if there is none.
std::string nonce_of(GstRTSPClient* client) {
    const auto* nonce = static_cast<const gchar*>(g_object_get_data(G_OBJECT(client), nonce_key));
    return nonce ? nonce : "";
}

// Returns the credentials of a request; nullopt if it has none that are complete.
std::optional<DigestCredentials> credentials_of(GstRTSPMessage* request) {
    using Credentials = std::unique_ptr<GstRTSPAuthCredential*, ReleasedBy<gst_rtsp_auth_credentials_free>>;
    const Credentials all(gst_rtsp_message_parse_auth_credentials(request, GST_RTSP_HDR_AUTHORIZATION));
    for (auto* const* one = all.get(); one && *one; ++one) {
        if ((*one)->scheme != GST_RTSP_AUTH_DIGEST) continue;
        DigestCredentials found;
        for (auto* const* parameter = (*one)->params; parameter && *parameter; ++parameter) {
            const std::string_view name = (*parameter)->name ? (*parameter)->name : "";
            const char* value = (*parameter)->value ? (*parameter)->value : "";
            if (name == "username") found.user = value;
            if (name == "realm") found.realm = value;
            if (name == "nonce") found.nonce = value;
            if (name == "uri") found.uri = value;
            if (name == "response") found.response = value;
        }
        return found;
    }
    return std::nullopt;
}

// Sends the response to a request that is refused.
void refuse_request(GstRTSPContext* context, GstRTSPStatusCode status) {
    gst_rtsp_message_init_response(context->response, status, gst_rtsp_status_as_text(status), context->request);
    if (status == GST_RTSP_STS_UNAUTHORIZED) {
        auto nonce = nonce_of(context->client);
        if (nonce.empty()) {
            nonce = net::make_token();
            g_object_set_data_full(G_OBJECT(context->client), nonce_key, g_strdup(nonce.c_str()), g_free);
        }
        const auto challenge = fmt::format(R"(Digest realm="{}", nonce="{}")", RtspLogins::realm, nonce);
        gst_rtsp_message_add_header(context->response, GST_RTSP_HDR_WWW_AUTHENTICATE, challenge.c_str());
    }
    gst_rtsp_client_send_message(context->client, context->session, context->response);
}

// Called for each request, and then for each step of it.
gboolean check_request(GstRTSPAuth* auth, GstRTSPContext* context, const gchar* what) {
    if (std::strcmp(what, GST_RTSP_AUTH_CHECK_CONNECT) == 0)
        return (*reinterpret_cast<TokenAuth*>(auth)->let_in)(context->conn) &&
               GST_RTSP_AUTH_CLASS(auth_parent)->check(auth, context, what);  // starts TLS
    if (std::strcmp(what, GST_RTSP_AUTH_CHECK_TRANSPORT_CLIENT_SETTINGS) == 0) return FALSE;
    if (std::strcmp(what, GST_RTSP_AUTH_CHECK_URL) != 0 || context->method == GST_RTSP_OPTIONS) return TRUE;
    const auto& logins = *reinterpret_cast<TokenAuth*>(auth)->logins;
    const char* address = context->conn ? gst_rtsp_connection_get_ip(context->conn) : nullptr;
    const char* method = gst_rtsp_method_as_text(context->method);
    using enum RtspLogins::Verdict;
    try {
        switch (logins->check(peer_of(address ? address : ""), credentials_of(context->request),
                              nonce_of(context->client), method ? method : "")) {
            case let_in: return TRUE;
            case asked:
            case wrong: refuse_request(context, GST_RTSP_STS_UNAUTHORIZED); return FALSE;
            case locked_out: refuse_request(context, GST_RTSP_STS_FORBIDDEN); return FALSE;
        }
    } catch (const std::exception& error) {
        log_warning("an RTSP request was refused: {}", error.what());
        refuse_request(context, GST_RTSP_STS_INTERNAL_SERVER_ERROR);
    }
    return FALSE;
}

void finalize_auth(GObject* object) {
    delete reinterpret_cast<TokenAuth*>(object)->logins;
    delete reinterpret_cast<TokenAuth*>(object)->let_in;
    G_OBJECT_CLASS(auth_parent)->finalize(object);
}

void init_auth_class(gpointer type, gpointer) {
    auth_parent = g_type_class_peek_parent(type);
    GST_RTSP_AUTH_CLASS(type)->check = check_request;
    G_OBJECT_CLASS(type)->finalize = finalize_auth;
}

GType auth_type() {
    static const GType type =
        g_type_register_static_simple(GST_TYPE_RTSP_AUTH, "FramewireTokenAuth", sizeof(TokenAuthClass), init_auth_class,
                                      sizeof(TokenAuth), nullptr, GTypeFlags(0));
    return type;
}

}  // namespace

ObjectPointer<GstRTSPAuth> make_token_auth(std::shared_ptr<RtspLogins> logins, LetIn let_in,
                                           const std::optional<net::TlsIdentity>& tls) {
    ObjectPointer<GstRTSPAuth> auth(GST_RTSP_AUTH(g_object_new(auth_type(), nullptr)));
    reinterpret_cast<TokenAuth*>(auth.get())->logins = new std::shared_ptr<RtspLogins>(std::move(logins));
    reinterpret_cast<TokenAuth*>(auth.get())->let_in = new LetIn(std::move(let_in));
    if (!tls) return auth;
    if (!g_tls_backend_supports_tls(g_tls_backend_get_default()))
        fail(ErrorCode::config, "RTSP over TLS needs GLib's TLS backend (Debian: glib-networking)");
    const auto both = tls->certificates == tls->key ? tls->key : tls->certificates + tls->key;
    GError* error = nullptr;
    const ObjectPointer<GTlsCertificate> certificate(
        g_tls_certificate_new_from_pem(both.c_str(), static_cast<gssize>(both.size()), &error));
    const ErrorPointer owned(error);
    if (!certificate)
        fail(ErrorCode::config, "{} cannot be used for RTSP: {}", tls->certificates_from, error ? error->message : "");
    gst_rtsp_auth_set_tls_certificate(auth.get(), certificate.get());
    return auth;
}

}  // namespace framewire::service
