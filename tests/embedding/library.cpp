// See library.h.
#include "tests/embedding/library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace lehr::test {

using machine::SizeRule;

Library::Library(const Prepared& p, bool save_locals, const native::Options& options)
    : p_(p),
      lowered_(generate(p.front, p.data, {.save_locals = save_locals, .new_items = true})),
      tables_(tables_of(p.front.model, p.front.schedule, lowered_, lowered_.size_values)),
      embedding_(embed(p.front.model, p.front.schedule, p.data, lowered_)) {
  char folder[] = "/tmp/lehr-embedding-XXXXXX";
  folder_ = mkdtemp(folder);
  const std::string object = folder_ + "/model.o", library = folder_ + "/model.so";
  std::ofstream(object, std::ios::binary) << native::emit_embeddable(lowered_.program, embedding_.image, options);
  REQUIRE(std::system(("cc -shared -nostartfiles -Wl,-z,defs -o " + library + " " + object + " -lm").c_str()) == 0);
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO(dlerror());
  REQUIRE(handle_);
}

Library::~Library() {
  if (handle_) dlclose(handle_);
  std::filesystem::remove_all(folder_);
}

bool Library::has(const std::string& name) const { return dlsym(handle_, (embedding_.name + "_" + name).c_str()); }

void* Library::symbol(const std::string& name) const {
  void* const found = dlsym(handle_, (embedding_.name + "_" + name).c_str());
  INFO(name);
  REQUIRE(found);
  return found;
}

Fields Library::sizes(std::int64_t copies) const {
  Fields out{static_cast<std::int64_t>(embedding_.abi)};
  for (std::size_t k = 0; k < tables_.sizes.size(); ++k) {
    if (tables_.sizes[k].rule == SizeRule::one_more) continue;
    if (tables_.sizes[k].rule == SizeRule::longest) {
      out.push_back(lowered_.size_values[k]);
      continue;
    }
    const bool grows = tables_.sizes[k].rule != SizeRule::fixed;
    out.push_back(p_.data.sizes[tables_.size_plates[k].index()] * (grows ? copies : 1));
  }
  return out;
}

Fields Library::data(std::int64_t copies) {
  const model::Model& m = p_.front.model;
  Fields out;
  for (std::size_t k = 0; k < tables_.sizes.size(); ++k) {
    if (tables_.sizes[k].rule == SizeRule::items) out.push_back(p_.data.sizes[tables_.size_plates[k].index()] * copies);
  }
  std::size_t at = 0;
  const auto point_to = [&](const void* values) { out.push_back(reinterpret_cast<std::int64_t>(values)); };
  const auto add = [&](const std::vector<double>& values) {
    const machine::BufferRow& buffer = tables_.buffers[static_cast<std::size_t>(tables_.arrays[at++].buffer)];
    std::vector<double> all;
    for (std::int64_t c = 0; c < (buffer.on_items ? copies : 1); ++c)
      all.insert(all.end(), values.begin(), values.end());
    if (!buffer.integers) return point_to(reals_.emplace_back(std::move(all)).data());
    std::vector<std::int64_t> positions;
    for (double v : all)
      positions.push_back(std::isnan(v) ? -1 : static_cast<std::int64_t>(v));
    point_to(integers_.emplace_back(std::move(positions)).data());
  };
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (!lowered_.data.offsets[k].valid() || m.plates[k].set != model::PlateId(k)) continue;
    ++at;
    std::vector<std::int64_t> offsets{0};
    const std::vector<std::int64_t>& once = p_.data.offsets[k];
    for (std::int64_t c = 0; c < copies; ++c) {
      const std::int64_t before = offsets.back();
      for (std::size_t row = 1; row < once.size(); ++row)
        offsets.push_back(before + once[row]);
    }
    point_to(integers_.emplace_back(std::move(offsets)).data());
  }
  for (const BoundArray& a : p_.data.givens)
    add(a.values);
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    if (model::has_data(m.variables[k])) add(p_.data.observed[k].values);
  }
  return out;
}

}  // namespace lehr::test
