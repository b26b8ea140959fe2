"""The device link of a program by cuweld, as one action that says all that it reads.

Its command line has relative paths alone, and its environment is empty: the output depends on the
inputs and on cuweld, so that it can be run elsewhere and taken from a remote cache.
"""

def _cuda_dlink_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".o")
    arguments = ctx.actions.args()
    arguments.add_all(ctx.files.srcs)
    if ctx.attr.architectures:
        arguments.add_joined("--arch", ctx.attr.architectures, join_with = ",")
    arguments.add_all(ctx.attr.flags)
    arguments.add("-o", output)

    # Long lists of objects are no matter: the words are in a file.
    arguments.use_param_file("--options-file=%s", use_always = True)
    arguments.set_param_file_format("multiline")
    ctx.actions.run(
        outputs = [output],
        inputs = ctx.files.srcs,
        executable = ctx.executable.cuweld,
        arguments = ["dlink", arguments],
        env = {},
        mnemonic = "CudaDeviceLink",
        progress_message = "Linking device code of %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([output]))]

cuda_dlink = rule(
    implementation = _cuda_dlink_impl,
    doc = "Links device code, and makes the host object that registers it, for the link of the program.",
    attrs = {
        "srcs": attr.label_list(
            allow_files = [".o", ".a", ".cubin", ".fatbin"],
            mandatory = True,
            doc = "Objects with relocatable device code, then libraries, all as files: rules_cuda's cuda_objects, for one.",
        ),
        "architectures": attr.string_list(
            doc = "Such as sm_90; left out, those that each input has code for.",
        ),
        "flags": attr.string_list(
            doc = "Further options of cuweld dlink. They name no files.",
        ),
        "cuweld": attr.label(
            default = "//:bin/cuweld",
            executable = True,
            cfg = "exec",
            allow_single_file = True,
            doc = "The program, a file in a folder: Bazel looks for a name without one on the PATH.",
        ),
    },
)
