"""Types of the dictionaries that ``inspect``, ``diff``, ``size``, ``disasm``, maps and remarks are.

They are the JSON documents of the program: docs/using/inspect.md, docs/using/files.md, docs/using/remarks.md.
"""

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class Coded(TypedDict):
    """A number with its name, if it has one."""

    value: int
    name: Optional[str]


class Damage(TypedDict):
    """A part of a file that cannot be read."""

    kind: str
    message: str


# "class" and "from" are words of the language.
_HeaderClass = TypedDict("_HeaderClass", {"class": Literal["ELF32", "ELF64"]})
_CallFrom = TypedDict("_CallFrom", {"from": "SymbolUse"})


class _Header(_HeaderClass):
    file_type: Coded
    machine: Coded
    arch: str
    os_abi: int
    abi_version: int
    version: int
    entry: int
    flags: int
    sm: int
    code: Coded
    cuda_info_section: int
    program_headers_offset: int
    section_headers_offset: int
    program_header_count: int
    section_header_count: int
    section_names_section: int


class Header(_Header, total=False):
    legacy: Dict[str, Any]


class _SectionRow(TypedDict):
    index: int
    name: str
    type: Coded
    flags: int
    flag_names: List[str]
    address: int
    offset: int
    size: int
    link: int
    info: int
    refers_to: Optional[Dict[str, Any]]
    align: int
    entry_size: int


class SectionRow(_SectionRow, total=False):
    hex: str


class SymbolUse(TypedDict):
    index: int
    name: str


class _SymbolRow(TypedDict):
    index: int
    name: str
    value: int
    size: int
    binding: Coded
    type: Coded
    other: int
    other_names: List[str]
    section: Any


class SymbolRow(_SymbolRow, total=False):
    demangled: str


class SymbolTable(TypedDict):
    section: str
    section_index: int
    symbols: List[SymbolRow]


class RelocationRow(TypedDict):
    offset: int
    type: Coded
    symbol: SymbolUse
    addend: Optional[int]


class RelocationTable(TypedDict):
    section: str
    section_index: int
    target: str
    rows: List[RelocationRow]


class AttributeRow(TypedDict):
    offset: int
    format: Coded
    code: Coded
    value: Dict[str, Any]


class AttributeTable(TypedDict):
    section: str
    section_index: int
    function: Optional[str]
    records: List[AttributeRow]


class NoteRow(TypedDict):
    section: str
    owner: str
    type: Coded
    value: Dict[str, Any]


class CallRow(_CallFrom):
    group: Literal["direct", "address_taken", "indirect", "takes_address"]
    to: Dict[str, Any]


class DeviceElf(TypedDict):
    """A cubin: kind "device-elf"."""

    kind: Literal["device-elf"]
    name: str
    offset: int
    size: int
    errors: List[Damage]
    header: Header
    segments: List[Dict[str, Any]]
    sections: List[SectionRow]
    symbol_tables: List[SymbolTable]
    relocations: List[RelocationTable]
    attributes: List[AttributeTable]
    mercury: List[Dict[str, Any]]
    notes: List[NoteRow]
    call_graph: List[CallRow]
    prototypes: List[Dict[str, Any]]


class FatbinMember(TypedDict):
    kind: Literal["fatbin-member"]
    name: str
    offset: int
    size: int
    errors: List[Damage]
    code: str
    code_value: int
    arch: str
    version: str
    flags: int
    flag_names: List[str]
    options: str
    codec: str
    stored_size: int
    unpacked_size: int
    data: Optional["Node"]


class Fatbin(TypedDict):
    kind: Literal["fatbin"]
    name: str
    offset: int
    size: int
    errors: List[Damage]
    version: int
    linkable: bool
    members: List["Node"]


class HostElf(TypedDict):
    """An object or executable of the host: kind "host-elf"."""

    kind: Literal["host-elf"]
    name: str
    offset: int
    size: int
    errors: List[Damage]
    file_type: Coded
    machine: Coded
    module_ids: List[str]
    prelinked_ids: List[str]
    references: List[Dict[str, Any]]
    fatbins: List["Node"]


class Archive(TypedDict):
    kind: Literal["archive"]
    name: str
    offset: int
    size: int
    errors: List[Damage]
    thin: bool
    members: List["Node"]


class Ptx(TypedDict):
    kind: Literal["ptx"]
    name: str
    offset: int
    size: int
    errors: List[Damage]
    version: str
    target: str


class OtherNode(TypedDict):
    kind: Literal["lto-ir", "unknown"]
    name: str
    offset: int
    size: int
    errors: List[Damage]


#: A file, or what a file holds: ``kind`` says which.
Node = Union[Archive, HostElf, Fatbin, FatbinMember, DeviceElf, Ptx, OtherNode]


class _Difference(TypedDict):
    category: str
    subject: str
    field: Optional[str]
    left: Optional[str]
    right: Optional[str]


class Difference(_Difference, total=False):
    source_name: str
    within: str


class Diff(TypedDict):
    """How two cubins differ."""

    schema: Literal["cuweld-diff"]
    schema_version: int
    left: str
    right: str
    identical: bool
    total: int
    differences: List[Difference]


class _Sizes(TypedDict):
    file: int
    memory: int


class Sizes(_Sizes, total=False):
    """Bytes in the file, in memory, and, where some are packed, as stored."""

    stored: int


class Needs(TypedDict):
    """What a kernel needs."""

    registers: Optional[int]
    stack: Optional[int]
    shared: int


class _SizeRow(TypedDict):
    name: str
    size: Sizes


class SizeRow(_SizeRow, total=False):
    rows: List["SizeRow"]
    base: Sizes
    needs: Needs
    base_needs: Needs


class Size(TypedDict):
    """How large device code is, and what of it."""

    schema: Literal["cuweld-size"]
    schema_version: int
    sources: List[str]
    files: List[str]
    base: List[str]
    total: SizeRow


class Control(TypedDict):
    """The scheduler's bits of an instruction."""

    stall: int
    is_yield: bool
    write_barrier: Optional[int]
    read_barrier: Optional[int]
    waits: int
    reuse: int


class _Instruction(TypedDict):
    offset: int
    bits: str
    control: Control
    operation: Optional[str]
    writes: Optional[List[str]]
    reads: Optional[List[str]]


class Instruction(_Instruction, total=False):
    labels: List[str]
    line: str
    guard: str
    target: int
    relocations: List[Dict[str, Any]]
    mercury: List[Dict[str, Any]]


class FunctionCode(TypedDict):
    name: str
    demangled: Optional[str]
    section: str
    size: int
    instructions: List[Instruction]


class ImageCode(TypedDict):
    path: str
    arch: str
    functions: List[FunctionCode]


class Disasm(TypedDict):
    """The instructions of files."""

    schema: Literal["cuweld-disasm"]
    schema_version: int
    images: List[ImageCode]


class MapInput(TypedDict):
    name: str
    member: Optional[str]
    section: str
    offset: int


class MapSymbol(TypedDict):
    name: str
    demangled: Optional[str]
    value: int
    size: int
    type: str
    binding: str


class MapPiece(TypedDict):
    offset: int
    size: int
    align: int
    input: Optional[MapInput]
    symbols: List[MapSymbol]


class MapSection(TypedDict):
    number: int
    name: str
    type: int
    in_file: bool
    offset: int
    address: int
    size: int
    align: int
    pieces: List[MapPiece]


class MapDropped(TypedDict):
    input: MapInput
    size: int
    reason: Literal["discarded", "replaced", "folded", "unreachable", "unreferenced", "left-out"]


class Map(TypedDict):
    """What lies where in the output of a link."""

    sections: List[MapSection]
    dropped: List[MapDropped]


class _RemarkSubject(TypedDict):
    type: str
    id: str
    name: str


class RemarkSubject(_RemarkSubject, total=False):
    demangled: str
    place: List[Any]


class _Remark(TypedDict):
    step: int
    kind: str
    message: str


# "pass" is a word of the language.
_RemarkPass = TypedDict("_RemarkPass", {"pass": str})


class Remark(_Remark, _RemarkPass, total=False):
    """What a pass decided, and why."""

    object: str
    subject: RemarkSubject
    arguments: Dict[str, Any]
