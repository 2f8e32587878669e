// Detection of references to other files in HDF5.
#include "runtime/files/hdf5_external.h"

namespace lehr {

bool is_external(hid_t dataset) {
  const hid_t made = H5Dget_create_plist(dataset);
  const bool out = made < 0 || H5Pget_external_count(made) != 0 || H5Pget_layout(made) == H5D_VIRTUAL;
  if (made >= 0) H5Pclose(made);
  return out;
}

namespace {

/// Visits a link; returns 1, which ends the visit, if it leads to another file.
herr_t look_at(hid_t group, const char* name, const H5L_info_t* about, void*) {
  if (about->type == H5L_TYPE_SOFT) return 0;  // a soft link names an object in this file
  if (about->type != H5L_TYPE_HARD) return 1;
  const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0) return 0;
  const bool out = H5Iget_type(object) == H5I_DATASET && is_external(object);
  H5Oclose(object);
  return out ? 1 : 0;
}

}  // namespace

bool has_external_references(const void* bytes, size_t count) {
  constexpr size_t kIncrement = 1 << 16;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5E_auto2_t tell = nullptr;
  void* to = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &tell, &to);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const bool set = H5Pset_fapl_core(access, kIncrement, false) >= 0 &&
                   H5Pset_file_image(access, const_cast<void*>(bytes), count) >= 0;  // the library makes a copy
  const hid_t file = set ? H5Fopen("memory", H5F_ACC_RDONLY, access) : -1;
  const bool out = file >= 0 && H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, look_at, nullptr) > 0;
  if (file >= 0) H5Fclose(file);
  H5Pclose(access);
  H5Eset_auto2(H5E_DEFAULT, tell, to);
  return out;
}

}  // namespace lehr
