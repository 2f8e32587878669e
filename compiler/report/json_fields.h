// Fields of JSON files that anyone may have edited: what is not there, or of another type, is nothing.
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace lehr::report {

inline nlohmann::json field(const nlohmann::json& j, const char* name) {
  return j.is_object() ? j.value(name, nlohmann::json()) : nlohmann::json();
}
inline double number_at(const nlohmann::json& j, const char* name) {
  const nlohmann::json value = field(j, name);
  return value.is_number() ? value.get<double>() : std::nan("");
}
inline std::string text_at(const nlohmann::json& j, const char* name) {
  const nlohmann::json value = field(j, name);
  return value.is_string() ? value.get<std::string>() : "";
}
inline bool is_true(const nlohmann::json& j, const char* name) { return field(j, name) == nlohmann::json(true); }
/// A list, or an empty one.
inline nlohmann::json list_at(const nlohmann::json& j, const char* name) {
  const nlohmann::json value = field(j, name);
  return value.is_array() ? value : nlohmann::json::array();
}
inline std::vector<double> numbers_at(const nlohmann::json& j, const char* name) {
  std::vector<double> out;
  const nlohmann::json list = list_at(j, name);
  for (const nlohmann::json& x : list)
    out.push_back(x.is_number() ? x.get<double>() : std::nan(""));
  return out;
}

}  // namespace lehr::report
