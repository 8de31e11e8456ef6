#include "e2e/tree.hpp"

#include "e2e/program.hpp"

#include <algorithm>
#include <sstream>

namespace framewire::e2e {

namespace fs = std::filesystem;

Tree tree(const fs::path& folder) {
    Tree files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) files[fs::relative(entry.path(), folder)] = contents(entry.path());
    return files;
}

std::string differences(const Tree& first, const Tree& second) {
    std::ostringstream reported;
    for (const auto& [name, bytes] : first) {
        const auto other = second.find(name);
        if (other == second.end()) {
            reported << name << " is only in the first\n";
        } else if (other->second != bytes) {
            const auto at = std::ranges::mismatch(bytes, other->second).in1 - bytes.begin();
            reported << name << " has " << bytes.size() << " and " << other->second.size()
                     << " bytes; the first difference is at byte " << at << "\n";
        }
    }
    for (const auto& [name, bytes] : second)
        if (!first.contains(name)) reported << name << " is only in the second\n";
    return reported.str();
}

}  // namespace framewire::e2e
