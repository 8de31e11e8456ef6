#include "framewire/delta/packing/packed.hpp"

#include "framewire/core/error.hpp"

namespace framewire::delta {

void validate_one_frame(const Shape& shape, const char* what) {
    validate(shape, what);
    if (shape.frames != 1)
        fail(ErrorCode::usage, "{} is a batch of {}; streams are packed one by one", what, shape.frames);
}

void validate_packed_threshold(int threshold) {
    if (threshold < 0 || threshold > PackedHead::max_threshold)
        fail(ErrorCode::usage, "a threshold of {}; 0 to {} are allowed", threshold, PackedHead::max_threshold);
}

}  // namespace framewire::delta
