# Given to CMake as CMAKE_PROJECT_INCLUDE while llama-cpp-python is compiled, this leaves out llama.cpp's
# library for command-line tools, which embedding does not use: about half of the build.
# A plain variable wins over the cache entry that llama-cpp-python forces to ON (policy CMP0126).
set(LLAMA_BUILD_COMMON OFF)
