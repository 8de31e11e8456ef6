#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::service::onvif {

/// Credentials of a UsernameToken (OASIS Web Services Security Username Token Profile 1.1).
struct UsernameToken {
    /// Texts as sent; `nonce` and `password` are in Base64. `digest` is true for the password type PasswordDigest.
    std::string user{}, password{}, nonce{}, created{};
    bool digest = false;
};

/// A SOAP 1.2 request.
struct SoapRequest {
    /// Local name and namespace of the element in the body, such as "GetProfiles".
    std::string operation{}, operation_namespace{};
    /// Texts of the elements in it that have no children, by local name. If a name occurs twice, the first one counts.
    std::map<std::string, std::string, std::less<>> parameters{};
    /// Text of MessageID in the header (WS-Addressing); empty if there is none.
    std::string message_id{};
    /// Credentials in the header.
    std::optional<UsernameToken> token{};
};

/// Limits of read_soap().
inline constexpr std::size_t max_soap_bytes = 64 * 1024;
/// Limits of read_soap().
inline constexpr int max_soap_depth = 24, max_soap_parameters = 64;

/// Parses a request. Throws Error{usage} if it is no well-formed envelope with one operation, exceeds a limit, or has a
/// document type declaration: without one there are no entities that could expand or refer to files.
SoapRequest read_soap(std::string_view text);

/// Returns an envelope with this body, which is XML that declares its own namespaces.
std::string soap_envelope(std::string_view body, std::string_view header = {});

/// Returns a fault (SOAP 1.2, section 5.4) with an ONVIF subcode such as "ter:NotAuthorized".
std::string soap_fault(std::string_view code, std::string_view subcode, std::string_view reason);

/// Returns a text with the characters escaped that XML requires. Characters that XML 1.0 does not allow become "?".
std::string xml_text(std::string_view text);

/// Returns the Base64 digest of a UsernameToken: SHA-1 of the nonce, the creation time and the password.
std::string password_digest(std::string_view nonce, std::string_view created, std::string_view password);

}  // namespace framewire::service::onvif
