# The device links of a project by cuweld, without nvcc; the project is left as it is:
#
#   cmake -B build -DCMAKE_PROJECT_INCLUDE=/path/to/cuweld.cmake
#
# Compiling stays nvcc's. Each link is for the GPUs that all of its inputs have code for.
find_program(CUWELD cuweld REQUIRED)
set(CUWELD_DLINK_FLAGS "" CACHE STRING "Options of cuweld dlink, such as -g or --lto")

# Where -lcudadevrt is found; CMake adds these folders to its own rules, too.
set(cuweld_folders "")
foreach(folder IN LISTS CMAKE_CUDA_HOST_IMPLICIT_LINK_DIRECTORIES)
  string(APPEND cuweld_folders " -L\"${folder}\"")
endforeach()

# CMake's rules for the device links of programs and of shared libraries.
foreach(kind EXECUTABLE LIBRARY)
  set(CMAKE_CUDA_DEVICE_LINK_${kind}
    "\"${CUWELD}\" dlink ${CUWELD_DLINK_FLAGS} <OBJECTS> <LINK_LIBRARIES>${cuweld_folders} -o <TARGET>")
endforeach()
