"""Changes single fields of a device ELF, for `edit` in the builds of link cases. A change is one of

    symbol NAME info|other|section|value|size NUMBER
    section NAME type|flags|size|link|info|align|entsize NUMBER
    section NAME rename NEW         no longer than the old name; its SECTION symbol gets the name too
    header cuda-info-section NUMBER
    record SECTION CODE SYMBOL code|word NUMBER     the attribute record with this code of this symbol ("-": of any); word: that behind the symbol
    reloc SECTION ROW type|symbol NUMBER|NAME       a row of a relocation section
    taken FUNCTION                  the object takes the address: the row of .nv.prototype moves to the call graph

Numbers are C's; `+NUMBER` sets bits in what is there.
"""
import struct

SECTION_FIELDS = {"type": (4, "I"), "flags": (8, "Q"), "size": (32, "Q"), "link": (40, "I"), "info": (44, "I"), "align": (48, "Q"), "entsize": (56, "Q")}
SYMBOL_FIELDS = {"info": (4, "B"), "other": (5, "B"), "section": (6, "H"), "value": (8, "Q"), "size": (16, "Q")}
HEADER_FIELDS = {"cuda-info-section": (51, "B")}
SYMTAB = 2
STT_SECTION = 3


class Image:
    """A whole file, with its section headers as (name, offset of the header)."""

    def __init__(self, data):
        self.data = bytearray(data)
        table, = struct.unpack_from("<Q", self.data, 40)
        count, names = struct.unpack_from("<HH", self.data, 60)
        self.headers = [table + 64 * index for index in range(count)]
        self.names = self.headers[names]

    def field(self, header, name):
        offset, form = SECTION_FIELDS[name] if name != "offset" else (24, "Q")
        return struct.unpack_from("<" + form, self.data, header + offset)[0]

    def string(self, table, at):
        """The place of a string, and the string."""
        start = self.field(table, "offset") + struct.unpack_from("<I", self.data, at)[0]
        return start, bytes(self.data[start:self.data.index(0, start)]).decode()

    def section(self, name):
        return next(index for index, header in enumerate(self.headers) if self.string(self.names, header)[1] == name)

    def symbols(self):
        """The place of each symbol, and its name with that name's place."""
        table = next(header for header in self.headers if self.field(header, "type") == SYMTAB)
        names = self.headers[self.field(table, "link")]
        start = self.field(table, "offset")
        for at in range(start, start + self.field(table, "size"), 24):
            yield at, self.string(names, at)

    def rename(self, name, new):
        index = self.section(name)
        places = [self.string(self.names, self.headers[index])[0]]
        for at, (place, _) in self.symbols():
            info, _, section = struct.unpack_from("<BBH", self.data, at + 4)
            if info & 15 == STT_SECTION and section == index:
                places.append(place)
        assert len(new) <= len(name)
        for place in places:
            self.data[place:place + len(name)] = new.encode().ljust(len(name), b"\0")

    def record(self, name, code, symbol):
        """The place of a record of attributes."""
        header = self.headers[self.section(name)]
        names = [known for _, (_, known) in self.symbols()]
        at = self.field(header, "offset")
        end = at + self.field(header, "size")
        while at < end:
            kind, found, size = struct.unpack_from("<BBH", self.data, at)
            size = size if kind == 4 else 0
            word = struct.unpack_from("<I", self.data, at + 4)[0] if size else 0
            if found == code and (symbol == "-" or names[word] == symbol):
                return at
            at += 4 + size
        raise ValueError(f"{name} has no such record")

    def take_address(self, function):
        """Moves the prototype of a function to the rows of functions whose address is taken."""
        index = [name for _, (_, name) in self.symbols()].index(function)
        prototypes, calls = (self.headers[self.section(name)] for name in (".nv.prototype", ".nv.callgraph"))
        row = next(row for row in self.rows(prototypes) if row[0] == index)
        self.replace(prototypes, [other for other in self.rows(prototypes) if other != row])
        graph = self.rows(calls)
        graph.insert(graph.index((0, -2)) + 1, row)
        self.replace(calls, graph)

    def rows(self, header):
        """The pairs of words of a section."""
        start = self.field(header, "offset")
        return list(struct.iter_unpack("<Ii", self.data[start:start + self.field(header, "size")]))

    def replace(self, header, rows):
        """Gives a section other pairs, at the end of the file."""
        self.data += bytes(-len(self.data) % 4)
        struct.pack_into("<QQ", self.data, header + 24, len(self.data), 8 * len(rows))
        self.data += b"".join(struct.pack("<Ii", *row) for row in rows)

    def set(self, at, form, number):
        value = int(number.removeprefix("+"), 0)
        if number.startswith("+"):
            value |= struct.unpack_from("<" + form, self.data, at)[0]
        struct.pack_into("<" + form, self.data, at, value)


def edit(data, changes):
    """The file with these changes."""
    image = Image(data)
    for change in changes:
        match change.split():
            case ["section", name, "rename", new]:
                image.rename(name, new)
            case ["section", name, field, number]:
                offset, form = SECTION_FIELDS[field]
                image.set(image.headers[image.section(name)] + offset, form, number)
            case ["symbol", name, field, number]:
                offset, form = SYMBOL_FIELDS[field]
                at = next(at for at, (_, known) in image.symbols() if known == name)
                image.set(at + offset, form, number)
            case ["record", name, code, symbol, field, number]:
                at = image.record(name, int(code, 0), symbol)
                offset, form = {"code": (1, "B"), "word": (8, "I")}[field]
                image.set(at + offset, form, number)
            case ["reloc", name, row, field, value]:
                header = image.headers[image.section(name)]
                at = image.field(header, "offset") + int(row) * image.field(header, "entsize")
                if field == "symbol":
                    value = str([known for _, (_, known) in image.symbols()].index(value))
                image.set(at + {"type": 8, "symbol": 12}[field], "I", value)
            case ["taken", function]:
                image.take_address(function)
            case ["header", field, number]:
                offset, form = HEADER_FIELDS[field]
                image.set(offset, form, number)
            case _:
                raise ValueError(change)
    return bytes(image.data)
