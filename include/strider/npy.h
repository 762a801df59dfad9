// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files.
//
//   st::save_npy("x.npy", x);   st::Tensor y = st::load_npy("x.npy");   // as numpy.save and numpy.load
//
// All dtypes but bf16 have one of NumPy's. bf16 is written as "<V2", two raw bytes, which is what NumPy does with the bfloat16
// of the package ml_dtypes; "V2" is read as bf16.
#pragma once

#include <string>

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {

/// The array in a file of version 1.0, 2.0 or 3.0, on the CPU. Fortran order gives a column-major tensor, big-endian values are
/// swapped. What follows the array in the file is ignored. User errors that name the file: it cannot be opened or is no regular
/// file, its header is damaged, its data are shorter than the header says; unsupported errors: dtypes that Strider has not.
STRIDER_API Tensor load_npy(const std::string& path);

/// Writes a tensor of any device and strides, version 1.0, little-endian; a column-major tensor in Fortran order. The file is
/// complete, and on the disk, or not there, and nothing else is left: it is written beside `path` and then takes its place; symbolic
/// links are followed. A file that was there before leaves its mode to the new one, and its owner where this user may give files away.
/// User errors that name the file: it cannot be written, or `path` is something other than a regular file.
STRIDER_API void save_npy(const std::string& path, const TensorView& tensor);

}  // namespace v0
}  // namespace strider
