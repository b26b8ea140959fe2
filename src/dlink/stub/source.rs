//! The link stub as C, for hosts whose machine code is not made here.

use std::fmt::Write;

use super::LinkStub;
use super::StubError;

/// Numbers of 8 bytes in a line.
const PER_LINE: usize = 4;

/// Returns the C of a stub. It needs no header; any compiler for ELF with GNU attributes takes it.
///
/// # Errors
///
/// If modules cannot be registered, as two of one id or one whose id is no name.
pub fn source(stub: &LinkStub<'_>) -> Result<String, StubError> {
    let modules = stub.modules()?;
    let is_part_of_name =
        |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80;
    if let Some(id) = stub
        .module_ids
        .iter()
        .find(|id| !id.bytes().all(is_part_of_name))
    {
        return Err(StubError::NoName(id.clone()));
    }
    let mut text = String::from(PROLOGUE);
    let _ = writeln!(text, "#define MODULES {modules}\n");
    text.push_str("static const unsigned long long fatbin[]\n    __attribute__((section(\".nv_fatbin\"), aligned(8), used)) = {\n");
    let words = stub.fatbin.chunks(8).map(|bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    });
    for line in words.collect::<Vec<_>>().chunks(PER_LINE) {
        let line = line.iter().map(|word| format!("{word:#018x},"));
        let _ = writeln!(text, "    {}", line.collect::<Vec<_>>().join(" "));
    }
    text.push_str("};\n");
    text.push_str(REGISTRATION);
    for id in stub.module_ids {
        let _ = writeln!(text, "MODULE({id})");
    }
    text.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    Ok(text)
}

const PROLOGUE: &str = "/* Registers linked device code with the CUDA runtime. Made by `cuweld dlink --host-source`. */

struct descriptor {
    int magic;
    int version;
    const void *fatbin;
    const void **prelinked;
};

typedef void (*callback)(void **handle);

#ifdef __cplusplus
extern \"C\" {
#endif
extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern int atexit(void (*)(void));

";

const REGISTRATION: &str = "
static void **handle;
static int registered;
/* What each module had before it was linked, and a null pointer. */
static const void *prelinked[MODULES + 1];
static callback callbacks[MODULES + 1];

static struct descriptor linked
    __attribute__((section(\".nvFatBinSegment\"), aligned(8), used)) = {
    0x466243b1, 2, fatbin, prelinked,
};

static void unregister_linked(void)
{
    __cudaUnregisterFatBinary(handle);
}

/* Registers the linked code after the last module. */
__attribute__((unused)) static void register_module(const struct descriptor *module, callback call)
{
    int index;

    prelinked[registered] = module->fatbin;
    callbacks[registered] = call;
    registered += 1;
    if (registered != MODULES)
        return;
    handle = __cudaRegisterFatBinary(&linked);
    atexit(unregister_linked);
    for (index = 0; index < MODULES; ++index)
        callbacks[index](handle);
    __cudaRegisterFatBinaryEnd(handle);
}

/* The id in its section tells a later device link that the module is linked. */
#define MODULE(id)                                                                           \\
    extern const struct descriptor __fatbinwrap##id;                                         \\
    static const char id_of##id[]                                                            \\
        __attribute__((section(\"__nv_module_id\"), aligned(1), used)) = \"def \" #id;           \\
    void __cudaRegisterLinkedBinary##id(callback call, void *, void *, void (*refer)(void *)); \\
    void __cudaRegisterLinkedBinary##id(callback call, void *unused, void *also_unused,      \\
                                        void (*refer)(void *))                               \\
    {                                                                                        \\
        static const char *reference = id_of##id;                                            \\
        (void)unused;                                                                        \\
        (void)also_unused;                                                                   \\
        refer(&reference);                                                                   \\
        register_module(&__fatbinwrap##id, call);                                            \\
    }

";
