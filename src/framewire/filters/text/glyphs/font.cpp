#include "framewire/filters/text/glyphs/font.hpp"

#include "framewire/core/error.hpp"

#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>

// Finding fonts through fontconfig, or by the path of a file.

namespace framewire {
namespace {

using Config = std::unique_ptr<FcConfig, decltype(&FcConfigDestroy)>;
using Pattern = std::unique_ptr<FcPattern, decltype(&FcPatternDestroy)>;

// A text property of a fontconfig pattern; null if it has no value with this index.
const char* text_of(const Pattern& pattern, const char* property, int index) {
    FcChar8* text = nullptr;
    return FcPatternGetString(pattern.get(), property, index, &text) == FcResultMatch
               ? reinterpret_cast<const char*>(text)
               : nullptr;
}

// Compares names as fontconfig does, without regard to case.
bool same_family(const char* a, const char* b) {
    return FcStrCmpIgnoreCase(reinterpret_cast<const FcChar8*>(a), reinterpret_cast<const FcChar8*>(b)) == 0;
}

// fontconfig always returns some font. Only its family name shows that the requested family is missing.
bool is_of_family(const Pattern& found, const char* family) {
    constexpr std::string_view generic[] = {"sans", "sans-serif", "serif", "mono", "monospace"};
    if (std::find(std::begin(generic), std::end(generic), family) != std::end(generic)) return true;
    for (int index = 0; const char* name = text_of(found, FC_FAMILY, index); ++index)
        if (same_family(name, family)) return true;
    return false;
}

}  // namespace

bool names_font_file(std::string_view wanted) {
    static constexpr std::string_view endings[] = {".ttf", ".ttc", ".otf", ".otc",  ".pfb",  ".pfa",
                                                   ".pcf", ".bdf", ".fon", ".woff", ".woff2"};
    std::string lower(wanted);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower.find('/') != lower.npos ||
           std::ranges::any_of(endings, [&](auto ending) { return lower.ends_with(ending); });
}

// Asks for fonts with outlines only, because glyphs are drawn at any size.
FontFile find_font(const std::string& wanted) {
    if (names_font_file(wanted)) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(wanted, ignored)) return {wanted, 0};
        fail(ErrorCode::usage, "no font file '{}'", wanted);
    }

    // A separate configuration; the process's own belongs to other users of fontconfig.
    const Config config(FcInitLoadConfigAndFonts(), &FcConfigDestroy);
    const auto* name = wanted.empty() ? "sans" : wanted.c_str();
    const Pattern pattern(FcNameParse(reinterpret_cast<const FcChar8*>(name)), &FcPatternDestroy);
    if (!pattern) fail(ErrorCode::usage, "'{}' is no name of a font family", wanted);
    const char* asked_family = text_of(pattern, FC_FAMILY, 0);
    const std::string family = asked_family ? asked_family : "";
    FcPatternAddBool(pattern.get(), FC_OUTLINE, FcTrue);
    FcConfigSubstitute(config.get(), pattern.get(), FcMatchPattern);
    FcDefaultSubstitute(pattern.get());
    FcResult result{};
    const Pattern found(config ? FcFontMatch(config.get(), pattern.get(), &result) : nullptr, &FcPatternDestroy);
    const char* path = found ? text_of(found, FC_FILE, 0) : nullptr;
    if (!path)
        fail(ErrorCode::config,
             "this machine has no fonts that fontconfig knows; install some (Debian: fonts-dejavu-core) or name a font "
             "file");
    if (!family.empty() && !is_of_family(found, family.c_str()))
        fail(ErrorCode::usage,
             "no font family '{}'; 'fc-list : family' lists those there are, a font file's path serves too", family);
    FontFile file{path, 0};
    FcPatternGetInteger(found.get(), FC_INDEX, 0, &file.face);
    return file;
}

}  // namespace framewire
