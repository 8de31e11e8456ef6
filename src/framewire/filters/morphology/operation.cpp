#include "framewire/filters/morphology/operation.hpp"

#include "framewire/core/error.hpp"

namespace framewire {

MorphologyOperation parse_morphology_operation(std::string_view text) {
    using enum MorphologyOperation;
    if (text == "none") return none;
    if (text == "dilate") return dilate;
    if (text == "erode") return erode;
    if (text == "open") return open;
    if (text == "close") return close;
    if (text == "close-open") return close_open;
    fail(ErrorCode::usage, "morphology '{}'; allowed are none, dilate, erode, open, close and close-open", text);
}

MorphologyPhases phases_of(MorphologyOperation operation) {
    using enum MorphologyPhases::Phase;
    switch (operation) {
        case MorphologyOperation::none: return {};
        case MorphologyOperation::dilate: return {{dilate}, 1};
        case MorphologyOperation::erode: return {{erode}, 1};
        case MorphologyOperation::open: return {{erode, dilate}, 2};
        case MorphologyOperation::close: return {{dilate, erode}, 2};
        case MorphologyOperation::close_open: return {{dilate, erode, erode, dilate}, 4};
    }
    fail(ErrorCode::internal, "an unknown morphology operation");
}

}  // namespace framewire
