#include "framewire/session/config/document.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace framewire::session {
namespace {

// yaml-cpp counts from 0.
TextPlace place_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Builds nodes from parser events. Aliases are rejected, because a small text could expand to a huge document.
class DocumentBuilder final : public YAML::EventHandler {
public:
    explicit DocumentBuilder(const std::string& name) : name_(name) {}

    DocumentNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    // An empty value, as in `key:` without text.
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { put({.place = place_of(mark), .entries = {}}); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(place_of(mark), "an alias (*name) is not read here");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
        require_plain(mark, tag);
        if (takes_key()) return take_key(place_of(mark), value);
        put({.kind = DocumentNode::Kind::text, .place = place_of(mark), .text = value, .entries = {}});
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        begin(mark, tag, DocumentNode::Kind::list);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        begin(mark, tag, DocumentNode::Kind::map);
    }
    void OnMapEnd() override { end(); }

private:
    // A list or map whose end has not been parsed yet.
    struct Open {
        DocumentNode node;
        // for a map: the entry whose value comes next
        std::optional<DocumentEntry> entry{};
    };

    [[noreturn]] void refuse(const TextPlace& place, const std::string& why) const {
        fail(ErrorCode::config, "{}:{}:{}: {}", name_, place.line, place.column, why);
    }

    // Rejects tags. yaml-cpp reports "?" for plain and "!" for quoted scalars, which are allowed.
    void require_plain(const YAML::Mark& mark, const std::string& tag) const {
        if (!tag.empty() && tag != "?" && tag != "!")
            refuse(place_of(mark), fmt::format("a tag ({}) is not read here", in_quotes(tag)));
    }

    // Returns true if the next scalar is a key of the innermost open map.
    bool takes_key() const {
        return !open_.empty() && open_.back().node.kind == DocumentNode::Kind::map && !open_.back().entry;
    }

    // Starts an entry of the innermost map; keys must be unique.
    void take_key(const TextPlace& place, const std::string& key) {
        for (const auto& entry : open_.back().node.entries)
            if (entry.key == key)
                refuse(place, fmt::format("{} is there twice, first in line {}", in_quotes(key), entry.place.line));
        if (open_.back().node.entries.size() >= most_entries)
            refuse(place, fmt::format("more than {} keys", most_entries));
        open_.back().entry = DocumentEntry{key, place, {}};
    }

    // Opens a list or map.
    void begin(const YAML::Mark& mark, const std::string& tag, DocumentNode::Kind kind) {
        require_plain(mark, tag);
        if (takes_key()) refuse(place_of(mark), "a key is a text");
        if (open_.size() >= max_document_depth)
            refuse(place_of(mark), fmt::format("it is nested more than {} deep", max_document_depth));
        open_.push_back({{.kind = kind, .place = place_of(mark), .entries = {}}});
    }

    // Closes the innermost list or map and adds it to the one around it.
    void end() {
        auto node = std::move(open_.back().node);
        open_.pop_back();
        put(std::move(node));
    }

    // Adds a complete value to the innermost list or map; without one it is the document itself.
    void put(DocumentNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        auto& open = open_.back();
        if (open.node.kind == DocumentNode::Kind::list) {
            open.node.items.push_back(std::move(node));
            return;
        }
        if (!open.entry) refuse(node.place, "a key is a text");
        open.entry->value = std::move(node);
        open.node.entries.push_back(*std::exchange(open.entry, std::nullopt));
    }

    // Keys are compared pairwise, which is fast enough up to this number.
    static constexpr std::size_t most_entries = 1000;

    const std::string& name_;
    DocumentNode root_;
    std::vector<Open> open_;
};

}  // namespace

DocumentNode read_document(std::string_view text, const std::string& name) {
    if (text.size() > max_document_bytes)
        fail(ErrorCode::config, "{}: it has more than {} bytes, and no more are read", name, max_document_bytes);
    std::istringstream stream{std::string(text)};
    DocumentBuilder builder(name);
    try {
        YAML::Parser parser(stream);
        parser.HandleNextDocument(builder);
        auto root = builder.take();
        DocumentBuilder second(name);
        if (parser.HandleNextDocument(second))
            fail(ErrorCode::config, "{}: it holds a second document, behind a line of ---", name);
        return root;
    } catch (const YAML::Exception& error) {
        const auto place = place_of(error.mark);
        fail(ErrorCode::config, "{}:{}:{}: it is no YAML: {}", name, place.line, place.column, error.msg);
    }
}

}  // namespace framewire::session
