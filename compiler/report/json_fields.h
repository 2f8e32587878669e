// Access to fields of JSON files that users may have edited. No function fails: a field that is missing or has an
// unexpected type reads as null, NaN, an empty text or an empty list.
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace lehr::report {

/// Returns the field `name` of the object `j`, or null if it is missing or `j` is no object. It never throws: users may
/// have edited fit.json and diagnosis.json.
inline nlohmann::json field(const nlohmann::json& j, const char* name) {
  return j.is_object() ? j.value(name, nlohmann::json()) : nlohmann::json();
}
/// Returns the field `name` of the object `j` as a number, or NaN if it is missing or no number.
inline double number_at(const nlohmann::json& j, const char* name) {
  const nlohmann::json value = field(j, name);
  return value.is_number() ? value.get<double>() : std::nan("");
}
/// Returns the field `name` of the object `j` as text, or an empty text if it is missing or no text.
inline std::string text_at(const nlohmann::json& j, const char* name) {
  const nlohmann::json value = field(j, name);
  return value.is_string() ? value.get<std::string>() : "";
}
/// Returns true if the object `j` has the field `name` with the JSON value true; false for anything else.
inline bool is_true(const nlohmann::json& j, const char* name) { return field(j, name) == nlohmann::json(true); }
/// Returns the field `name` of the object `j` if it is a JSON array, else an empty array.
inline nlohmann::json list_at(const nlohmann::json& j, const char* name) {
  const nlohmann::json value = field(j, name);
  return value.is_array() ? value : nlohmann::json::array();
}
/// Returns the elements of the array `name` in the object `j` as numbers, NaN for elements that are no numbers. Empty
/// if the field is missing or no array.
inline std::vector<double> doubles_at(const nlohmann::json& j, const char* name) {
  std::vector<double> out;
  const nlohmann::json list = list_at(j, name);
  for (const nlohmann::json& x : list)
    out.push_back(x.is_number() ? x.get<double>() : std::nan(""));
  return out;
}

}  // namespace lehr::report
