# Read by the other scripts of this folder, from the root of the project: finds nvcc where CUDA puts
# it, fixes the locale, and configures build folders.

export LC_ALL=C.UTF-8
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    PATH=$PATH:/usr/local/cuda/bin
fi

# configure FOLDER OPTION...: sets the folder up, or brings one that is there to the same options.
configure() {
    folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        [ $# -eq 0 ] || meson configure "$folder" "$@"
    else
        meson setup "$folder" "$@"
    fi
}

# compile FOLDER TARGET...
compile() {
    folder=$1
    shift
    ninja -C "$folder" -j "$(nproc)" "$@"
}
