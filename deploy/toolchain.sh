# Sourced by the other scripts of this folder, from the root of the project. Adds CUDA's nvcc to PATH, sets
# the locale, and defines functions that configure and compile a build folder.

export LC_ALL=C.UTF-8
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    PATH=$PATH:/usr/local/cuda/bin
fi

# configure FOLDER OPTION...: sets up the build folder, or changes the options of an existing folder.
configure() {
    folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        [ $# -eq 0 ] || meson configure "$folder" "$@"
    else
        meson setup "$folder" "$@"
    fi
}

# compile FOLDER TARGET...: builds the targets, or everything if none is given.
compile() {
    folder=$1
    shift
    ninja -C "$folder" -j "$(nproc)" "$@"
}
