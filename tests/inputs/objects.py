"""Cubins with changed header fields, notes and records, for tests/inputs/objects.toml: write(FOLDER) makes them in FOLDER/objects.

`a` calls `g`, which `b` defines; NAME75 is for sm_75, NAME90 for sm_90, NAME-ewp.. made with -ewp.
"""
import struct


class Cubin:
    """A cubin whose fields and sections can be changed; new contents go to the end of the file."""

    FIELDS = dict(name=(0, "I"), type=(4, "I"), flags=(8, "Q"), offset=(24, "Q"), size=(32, "Q"), link=(40, "I"), info=(44, "I"))

    def __init__(self, data):
        self.data = bytearray(data)
        self.table, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        at = self.get(names, "offset")
        self.names = []
        for index in range(count):
            start = at + self.get(index, "name")
            self.names.append(bytes(data[start : data.index(b"\0", start)]).decode())

    def place(self, section, field):
        index = self.names.index(section) if isinstance(section, str) else section
        offset, form = self.FIELDS[field]
        return self.table + 64 * index + offset, "<" + form

    def get(self, section, field):
        at, form = self.place(section, field)
        return struct.unpack_from(form, self.data, at)[0]

    def set(self, section, field, value):
        at, form = self.place(section, field)
        struct.pack_into(form, self.data, at, value)
        return self

    def contents(self, section):
        start = self.get(section, "offset")
        return bytes(self.data[start : start + self.get(section, "size")])

    def replace(self, section, contents):
        self.data += b"\0" * (-len(self.data) % 16)
        self.set(section, "offset", len(self.data)).set(section, "size", len(contents))
        self.data += contents
        return self

    def header(self, at, value):
        self.data[at : at + len(value)] = value
        return self

    def cuda_info(self, version=2, virtual_sm=75, toolkit=0x82):
        desc = struct.pack("<HHI", version, virtual_sm, toolkit)
        return self.replace(".note.nv.cuinfo", struct.pack("<III", 12, 8, 1000) + b"NVIDIA Corp\0" + desc)

    def compat(self, keep):
        """Leaves the records of .nv.compat that `keep` accepts."""
        return self.replace(".nv.compat", b"".join(record for code, record in records(self.contents(".nv.compat")) if keep(code)))


def records(data):
    """Records of .nv.info and .nv.compat, as (code, bytes)."""
    while data:
        size = 4 + (struct.unpack_from("<H", data, 2)[0] if data[0] == 4 else 0)
        yield data[1], data[:size]
        data = data[size:]


def write(folder):
    out = folder / "objects"
    out.mkdir(exist_ok=True)

    def cubin(name):
        return Cubin((folder / f"{name}.cubin").read_bytes())

    def save(name, changed):
        (out / f"{name}.cubin").write_bytes(changed.data)

    for sm in (75, 90):
        b = f"b{sm}"
        for toolkit in (0x50, 0x63, 0x64, 0x77, 0x78, 0x81, 0x83):
            save(f"{b}-toolkit-{toolkit:x}", cubin(b).cuda_info(toolkit=toolkit))
            save(f"ewp-a{sm}-toolkit-{toolkit:x}", cubin(f"ewp-a{sm}").cuda_info(toolkit=toolkit))
        save(f"{b}-version-1", cubin(b).cuda_info(version=1))
        old = cubin(b).cuda_info(version=1)
        tools = bytearray(old.contents(".note.nv.tkinfo"))
        tools[24:28] = struct.pack("<I", 0x81)
        save(f"{b}-version-1-tools", old.replace(".note.nv.tkinfo", bytes(tools)))
        for index in (0, 1, 5, 0x7F, 0xFF):
            save(f"{b}-index-{index:x}", cubin(b).header(51, bytes([index])))
        for bit in range(8):
            save(f"{b}-bit-{bit}", cubin(b).header(48, bytes([4 ^ 1 << bit])))
        save(f"{b}-virtual-sm", cubin(b).cuda_info(virtual_sm=50))
        # Two faults: what is said first.
        other = bytes([0x50 if sm == 75 else 0x4B])
        save(f"{b}-sm-abi", cubin(b).header(49, other).header(8, b"\x09"))
        save(f"{b}-sm-toolkit", cubin(b).header(49, other).cuda_info(toolkit=0x90))
        save(f"{b}-abi-toolkit", cubin(b).header(8, b"\x09").cuda_info(toolkit=0x90))
        save(f"{b}-mercury-toolkit", cubin(b).header(48, b"\x06").cuda_info(toolkit=0x90))
        save(f"{b}-mercury", cubin(b).header(48, b"\x06"))
        # The legacy header, as ptxas 12 writes it.
        flags = sm | 0x500 | sm << 16
        for name, osabi, abi, version, flags in (
            ("", 0x33, 7, 0x80, flags),
            ("-osabi", 0x00, 7, 0x80, flags),
            ("-abi", 0x33, 8, 0x80, flags),
            ("-old", 0x33, 7, 0x50, flags),
            ("-new", 0x33, 7, 0x83, flags),
            ("-wide", 0x33, 7, 0x10078, flags),
            ("-narrow", 0x33, 7, 0x80, flags & ~0x400),
            ("-narrow-abi", 0x33, 9, 0x80, flags & ~0x400),
            ("-narrow-sm", 0x33, 7, 0x80, flags & ~0x4FF | 80),
            ("-mercury", 0x33, 7, 0x80, flags | 1 << 31),
            ("-specific", 0x33, 7, 0x80, flags | 0x800),
            ("-virtual-sm", 0x33, 7, 0x80, flags & 0xFFFF | 50 << 16),
        ):
            changed = cubin(b).header(7, bytes([osabi, abi])).header(20, struct.pack("<I", version))
            save(f"{b}-legacy{name}", changed.header(48, struct.pack("<I", flags)))
    for name in ("a90", "b90", "c90"):
        save(f"{name}-no-isa-class", cubin(name).compat(lambda code: code != 2))
    for code in (3, 5, 6, 7, 9):
        save(f"b90-no-compat-{code}", cubin("b90").compat(lambda known: known != code))
    save("b90-no-compat", cubin("b90").compat(lambda code: False))
    for name in ("a90", "b90", "c90"):
        rest = [record for code, record in records(cubin(name).contents(".nv.info")) if code != 0x2F]
        save(f"{name}-no-registers", cubin(name).replace(".nv.info", b"".join(rest)))
    save("a90-rows-of-nothing", cubin("a90").set(".rela.text.k", "info", 0))
    marked = cubin("c90")
    # Symbol 1 stands for a section; its st_other says shared memory.
    save("c90-section-flags", marked.header(marked.get(".symtab", "offset") + 24 + 5, b"\x40"))
    save("a90-no-bits", cubin("a90").set(".text.k", "type", 8))
    newer = cubin("table/100")
    versions = [record[:2] + b"\2" + record[3:] if code == 7 else record for code, record in records(newer.contents(".nv.compat"))]
    save("version-2", newer.replace(".nv.compat", b"".join(versions)))
