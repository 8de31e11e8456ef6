#include "framewire/service/onvif/soap.hpp"
#include "framewire/core/error.hpp"

#include <expat.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace framewire::service::onvif {
namespace {

constexpr std::string_view envelope_namespace = "http://www.w3.org/2003/05/soap-envelope";
constexpr char separator = '|';

// Builds a request from the parser's events.
class SoapReader {
public:
    explicit SoapReader(XML_Parser parser) : parser_(parser) {
        XML_SetUserData(parser, this);
        XML_SetElementHandler(
            parser, [](void* self, const char* name, const char** attributes) { of(self).begin(name, attributes); },
            [](void* self, const char*) { of(self).end(); });
        XML_SetCharacterDataHandler(parser, [](void* self, const char* text, int length) {
            of(self).text_.append(text, static_cast<std::size_t>(length));
        });
        XML_SetStartDoctypeDeclHandler(parser, [](void* self, const char*, const char*, const char*, int) {
            of(self).stop("a document type declaration is not allowed");
        });
    }

    const std::string& problem() const { return problem_; }
    SoapRequest& request() { return request_; }

private:
    static SoapReader& of(void* self) { return *static_cast<SoapReader*>(self); }

    void stop(std::string why) {
        problem_ = std::move(why);
        XML_StopParser(parser_, XML_FALSE);
    }

    // Names are "NAMESPACE|LOCAL", or "LOCAL" without a namespace.
    void begin(std::string_view name, const char** attributes) {
        const auto split = name.rfind(separator);
        const auto space = split == name.npos ? std::string_view() : name.substr(0, split);
        const std::string local(split == name.npos ? name : name.substr(split + 1));
        text_.clear();
        leaf_ = true;
        if (path_.size() >= static_cast<std::size_t>(max_soap_depth))
            return stop(fmt::format("more than {} levels", max_soap_depth));
        if (path_.empty() && (local != "Envelope" || space != envelope_namespace))
            return stop("the document is no SOAP 1.2 envelope");
        path_.push_back(local);
        if (path_.size() == 3 && path_[1] == "Body") {
            if (!request_.operation.empty()) return stop("more than one element in the body");
            request_.operation = local;
            request_.operation_namespace = space;
        }
        if (in_header("UsernameToken")) request_.token.emplace();
        if (in_header("Password") && request_.token)
            for (const auto* one = attributes; one[0]; one += 2)
                if (std::string_view(one[0]) == "Type")
                    request_.token->digest = std::string_view(one[1]).ends_with("#PasswordDigest");
    }

    void end() {
        if (in_header("MessageID")) request_.message_id = text_;
        if (auto& token = request_.token) {
            if (in_header("Username")) token->user = text_;
            if (in_header("Password")) token->password = text_;
            if (in_header("Nonce")) token->nonce = text_;
            if (in_header("Created")) token->created = text_;
        }
        if (leaf_ && path_.size() > 3 && path_[1] == "Body") {
            if (request_.parameters.size() >= static_cast<std::size_t>(max_soap_parameters))
                return stop(fmt::format("more than {} parameters", max_soap_parameters));
            request_.parameters.try_emplace(path_.back(), text_);
        }
        leaf_ = false;
        text_.clear();
        if (!path_.empty()) path_.pop_back();
    }

    bool in_header(std::string_view local) const {
        return path_.size() > 2 && path_[1] == "Header" && path_.back() == local;
    }

    XML_Parser parser_;
    SoapRequest request_;
    std::string problem_, text_;
    std::vector<std::string> path_;
    bool leaf_ = false;
};

struct FreeParser {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

}  // namespace

SoapRequest read_soap(std::string_view text) {
    if (text.size() > max_soap_bytes) fail(ErrorCode::usage, "the request is larger than {} bytes", max_soap_bytes);
    const std::unique_ptr<XML_ParserStruct, FreeParser> parser(XML_ParserCreateNS(nullptr, separator));
    if (!parser) fail(ErrorCode::internal, "no memory for an XML parser");
    SoapReader reader(parser.get());
    const auto status = XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), 1);
    if (!reader.problem().empty()) fail(ErrorCode::usage, "{}", reader.problem());
    if (status != XML_STATUS_OK)
        fail(ErrorCode::usage, "invalid XML in line {}: {}", XML_GetCurrentLineNumber(parser.get()),
             XML_ErrorString(XML_GetErrorCode(parser.get())));
    if (reader.request().operation.empty()) fail(ErrorCode::usage, "the body of the envelope is empty");
    return std::move(reader.request());
}

std::string soap_envelope(std::string_view body, std::string_view header) {
    return fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="{}">{}<s:Body>{}</s:Body>)"
                       "</s:Envelope>",
                       envelope_namespace, header.empty() ? "" : fmt::format("<s:Header>{}</s:Header>", header), body);
}

std::string soap_fault(std::string_view code, std::string_view subcode, std::string_view reason) {
    return soap_envelope(
        fmt::format("<s:Fault><s:Code><s:Value>s:{}</s:Value><s:Subcode><s:Value "
                    R"(xmlns:ter="http://www.onvif.org/ver10/error">{}</s:Value></s:Subcode></s:Code>)"
                    R"(<s:Reason><s:Text xml:lang="en">{}</s:Text></s:Reason></s:Fault>)",
                    code, subcode, xml_text(reason)));
}

std::string xml_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&apos;"; break;
            default: escaped += static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r' ? '?' : c;
        }
    return escaped;
}

std::string password_digest(std::string_view nonce, std::string_view created, std::string_view password) {
    const auto all = fmt::format("{}{}{}", nonce, created, password);
    std::array<std::uint8_t, SHA_DIGEST_LENGTH> digest{};
    SHA1(reinterpret_cast<const std::uint8_t*>(all.data()), all.size(), digest.data());
    std::string coded((digest.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock() appends a NUL
    coded.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<std::uint8_t*>(coded.data()), digest.data(),
                                                          static_cast<int>(digest.size()))));
    return coded;
}

}  // namespace framewire::service::onvif
