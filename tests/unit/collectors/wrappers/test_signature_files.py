"""Signature files: their content, and errors for invalid ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.wrappers.declarations import DeclarationError, Types, split_declaration
from iotide.collectors.wrappers.model import KINDS, Machine, SignatureError, SignatureFile
from iotide.collectors.wrappers.plan import plan, specification
from iotide.collectors.wrappers.signature import parse, read
from iotide.collectors.wrappers.sources import PRELOAD
from support.tracing.signature_printing import format_file

HEAD = "library z\nlayer OTHER\nanchor z_open\n"


def statement_of(text: str, head: str = HEAD) -> str:
    """Return the specification of the only statement."""
    (statement,) = parse(head + text).statements
    return specification(statement)


def without_lines(file: SignatureFile) -> SignatureFile:
    return replace(file, statements=tuple(replace(row, line=0) for row in file.statements))


# ---- declarations ----


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("int a", "a", "int"),
        ("const void  *  buf", "buf", "const void *"),
        ("unsigned long long x", "x", "unsigned long long"),
        ("const char *const *names", "names", "const char *const *"),
        ("int dims[]", "dims", "int *"),
        ("const double grid[2][3]", "grid", "const double (*)[3]"),
        ("int (*op)(int, void *)", "op", "int (*)(int, void *)"),
        ("struct iovec *parts", "parts", "struct iovec *"),
        ("FILE *restrict stream", "stream", "FILE *restrict"),
        ("size_t *__restrict room", "room", "size_t *__restrict"),
    ],
)
def test_declaration_is_parted_into_name_and_type(text: str, name: str, kind: str) -> None:
    found, _, of = split_declaration(text)

    assert (found, of) == (name, kind)


@pytest.mark.parametrize(
    "text", ["int", "unsigned int", "void *", "const char", "", "struct iovec", "int 3", "int (*)(int)"]
)
def test_declaration_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError, match="expected a type and a name"):
        split_declaration(text)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("int", Machine.SIGNED),
        ("unsigned", Machine.UNSIGNED),
        ("const size_t", Machine.UNSIGNED),
        ("long double", Machine.FLOATING),
        ("float", Machine.FLOATING),
        ("void", Machine.VOID),
        ("char *", Machine.POINTER),
        ("hid", Machine.SIGNED),
        ("twice", Machine.SIGNED),
        ("point", Machine.AGGREGATE),
        ("struct s", Machine.AGGREGATE),
        ("enum e", Machine.UNSIGNED),
        ("call", Machine.POINTER),
        ("gone", Machine.INCOMPLETE),
        ("double _Complex", Machine.AGGREGATE),
    ],
)
def test_type_comes_to_its_machine_type(text: str, machine: Machine) -> None:
    named = {
        "hid": "int64_t", "twice": "hid", "point": "struct { int x; }", "call": "int (*)(int)", "gone": "opaque",
    }  # fmt: skip

    assert Types(named).read(text).machine is machine


def test_type_declared_by_itself_is_refused() -> None:
    with pytest.raises(DeclarationError, match="by itself"):
        Types({"a": "b", "b": "a"}).read("a")


def test_unknown_type_behind_a_pointer_is_opaque_and_elsewhere_an_error() -> None:
    assert parse(f"{HEAD}OTHER int f(Info *info, const Other **more)").opaque == ("Info", "Other")

    with pytest.raises(SignatureError, match=r"the type 'Info' is not known: add a line `type Info = \.\.\.`"):
        parse(f"{HEAD}OTHER int f(Info info)")


def test_headers_make_unknown_types_the_compilers_business() -> None:
    file = parse(f"{HEAD}include <sys/stat.h>\nOTHER int f(struct stat *to, blkcnt_t blocks: int, FILE *file)")

    assert file.opaque == ()
    with pytest.raises(SignatureError, match="not known here: give it a role"):
        parse(f"{HEAD}include <sys/stat.h>\nOTHER int f(blkcnt_t blocks)")


# ---- content of a file ----


def test_roles_follow_from_types_where_none_is_given() -> None:
    text = "OTHER int f(int a, unsigned b, double c, const char *d, char *e, void *g, bool h)"

    assert statement_of(text) == "f(a:i,b:u,c:g,d:s,e:-,g:-,h:u)"


def test_specification_says_where_each_value_stands() -> None:
    text = (
        "WRITE ssize_t w(int fd: fd, const void *from: buffer, size_t n: size, off_t at: offset, int flags: flags,"
        " mode_t mode: mode, int whence: enum{SET/CUR/}, int count: count, const int *dims: array(count),"
        " unsigned x: hex, const char *to: path, int *request: request) -> id"
    )

    assert statement_of(text) == (
        "w(fd:d,from:-,n:n,at:o,flags:O,mode:m,whence:e=SET/CUR/,count:i,dims:a,x:x,to:p,request:x)=i"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE int open(const char *path: path, int flags: flags) -> fd", "open(path:f,flags:O)=d"),
        ("CREATE int o(int at: dirfd, const char *path: path) -> fd", "o(at:i,path:f)=d"),
        ("OTHER int rename(const char *from: path, const char *to: path)", "rename(from:f,to:p)"),
        ("DUPLICATE int dup(int fd: fd) -> fd", "dup(fd:i)=d"),
        ("CREATE int64_t o(const char *path: path) -> handle", "o(path:f)"),
        ("CREATE int o(const char *path: path) -> handle", "o(path:f)=d"),
        ("CREATE int o(const char *path: path, int *id: new_handle)", "o(path:f,id:d)"),
        ("CREATE int o(int64_t in: handle, int64_t *id: new_handle)", "o(in:h,id:h)"),
        ("OTHER int o(int id: handle, int64_t other: handle, const char *path: path)", "o(id:d,other:h,path:p)"),
        ("READ int r(size_t n: size)\n    requested = 2 * n", "r(n:u)"),
        ("READ int r(off_t *at: offset, off_t b: offset)\n    offset = *at", "r(at:-,b:i)"),
        ("OTHER int r(void)\n    extra kind: text = kind()\n    name = shown", "shown(kind:s)"),
        ("OTHER double r(void) -> id", "r()=g"),
        ("OTHER const char *r(void) -> id", "r()=s"),
        ("OTHER void *r(void) -> id", "r()=x"),
    ],
)
def test_specification_by_what_the_call_is_about(text: str, expected: str) -> None:
    assert statement_of(text) == expected


def test_group_and_datatype_lines_change_how_values_are_shown() -> None:
    file = parse(f"{HEAD}group g(value)\ndatatype d(value)\nWRITE int w(void *fh: handle, int type: datatype)")

    assert specification(file.statements[0], grouped=True, datatypes=True) == "w(fh:k,type:s)"


def test_arrays_share_the_room_for_words() -> None:
    arrays = ", ".join(f"const int *a{i}: array(n)" for i in range(4))
    (statement,) = parse(f"{HEAD}OTHER int f(int n, {arrays})").statements

    assert plan(statement).most_elements == 14


def test_variants_stand_on_one_line_and_share_the_first_ones_name() -> None:
    (statement,) = parse(f"{HEAD}OTHER int f64|f | f_old(int a)").statements

    assert statement.symbols == ("f64", "f", "f_old")
    assert statement.shown == "f64"


def test_statement_goes_on_over_lines_while_a_parenthesis_is_open() -> None:
    file = parse(
        f"{HEAD}# a comment\nOTHER int f(int a,   # the first\n   int b: hex) -> id\n"
        '    failed = odd(a,\n        "# no comment")\n    before = x(a); # one\nOTHER int g(void)\n'
    )

    f, g = file.statements
    assert [row.name for row in f.parameters] == ["a", "b"]
    assert f.expressions == {"failed": 'odd(a, "# no comment")'}
    assert f.before == ("x(a)",)
    assert (f.line, g.line) == (5, 10)


@pytest.mark.parametrize(
    ("kind", "group"), [("READ", "data"), ("CREATE", "handle"), ("DELETE", "meta"), ("SEEK", "seek")]
)
def test_class_follows_from_the_kind(kind: str, group: str) -> None:
    (statement,) = parse(f"{HEAD}{kind} int f(int a)").statements

    assert statement.group == group


@pytest.mark.slow
def test_iotides_own_files_are_read_and_written_the_same() -> None:
    for path in sorted(PRELOAD.glob("signatures/*.sig")):
        file = read(path)

        assert without_lines(parse(format_file(file), file.path)) == without_lines(file)


# ---- invalid files ----

WRONG = {
    "library z\nlayer OTHER\n": (1, "expected a line `anchor"),
    "": (1, "expected a line `library"),
    "    custom\n": (1, "ahead of attributes"),
    "Library z\n": (1, "expected one of library, layer"),
    "library Z\n": (1, "expected lower case letters"),
    "library preload\n": (1, "that of the core library"),
    "library\n": (1, "expected something after `library`"),
    "library z\nlibrary y\n": (2, "`library` is given already"),
    "layer KERNEL\n": (1, "expected a layer (OTHER"),
    "type x int\n": (1, "expected `type NAME = C TYPE`"),
    "type x = int\ntype x = long\n": (2, "'x' is declared already"),
    "include stdio.h\n": (1, "expected `include <HEADER>`"),
    "group fh\n": (1, "over `value`"),
    "library z\n    custom\n": (2, "expected no attributes below `library`"),
}
WRONG_STATEMENTS = {
    "OTHER int f": "expected a prototype",
    "OTHER f(int a)": "expected a type and a name before '('",
    "OTHER int f(int a": "expected ')'",
    "OTHER int f(int)": "expected a type and a name, found 'int'",
    "OTHER int f(int a: fh)": "expected a role for 'a' (fd, stream",
    "OTHER int f(int a: fd fd)": "expected a role for 'a'",
    "OTHER int f(int a: fd: fd)": "expected `DECLARATION: role`",
    "OTHER int f(int a: fd(3))": "expected nothing after the role 'fd'",
    "OTHER int f(int a: enum)": "expected `enum{NAME/NAME}`",
    "OTHER int f(int a: enum{A/B,C})": "expected names of letters",
    "OTHER int f(int *a: array)": "expected `array(NUMBER OF ELEMENTS)`",
    "OTHER int f(int a: array(3))": "'array' of 'a' expects a pointer to integers",
    "OTHER int f(double *a: array(3))": "'array' of 'a' expects a pointer to integers",
    "OTHER int f(int a: new_handle)": "'new_handle' of 'a' expects a pointer",
    "OTHER int f(double a: fd)": "'fd' of 'a' expects an integer or a pointer",
    "OTHER int f(int a: text)": "'text' of 'a' expects a pointer to char",
    "OTHER int f(int a: double)": "'double' of 'a' expects floating point",
    "OTHER int f(int result)": "the name 'result' is taken",
    "OTHER int f(int a_)": "the name 'a_' is taken",
    "OTHER int f(int a, int a)": "two parameters are called 'a'",
    "OTHER int f(void a)": "the parameter 'a' has the void type",
    "OTHER int f(int a) -> path": "expected `-> role` with one of",
    "OTHER int f(int a) fd": "expected `-> role`",
    "OTHER void f(int a) -> fd": "without a result",
    "OTHER int f(int a, ...)": "f is variadic: expected the attribute `custom`",
    "OTHER int f|f(int a)": "f stands on line 4 already",
    "OTHER int f(int a)\nOTHER int f(int a)": "f stands on line 4 already",
    "OTHER int 0,#f(int a)": "expected white space before the #",
    "OTHER int f(int 3 a)": "expected a type, found 'int 3'",
    "OTHER Thing f(int a)": "the type 'Thing' is not known",
    "OTHER int f(int a)\n    costum": "expected `attribute = value` or `custom`",
    "OTHER int f(int a)\n    failed =": "expected `attribute = value` or `custom`",
    "OTHER int f(int a)\n    fails = 3": "expected an attribute (failed, error",
    "OTHER int f(int a)\n    value b = 3": "f has no 'b'",
    "OTHER int f(int a)\n    class = fast": "expected a class (data",
    "OTHER int f(int a)\n    name = a b": "expected a name",
    "OTHER int f(int a)\n    failed = 1\n    failed = 2": "`failed` is given already",
    "OTHER int f(int a)\n    instead = g(a)\n    instead = h(a)": "`instead` is given already",
    "OTHER int f(int a)\n    extra b: offset = 3": "expected a role of a value",
    "OTHER int f(" + ", ".join(f"int *a{i}: array(3)" for i in range(7)) + ")": "at most 6 arrays, found 7",
    "OTHER int f(" + ", ".join(f"int a{i}" for i in range(65)) + ")": "at most 64 recorded values",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_head_is_told_with_file_and_line(text: str) -> None:
    line, message = WRONG[text]

    with pytest.raises(SignatureError) as caught:
        parse(text, "some/z.sig")

    assert str(caught.value).startswith(f"some/z.sig:{line}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", WRONG_STATEMENTS)
def test_wrong_statement_is_told_with_what_was_expected(text: str) -> None:
    with pytest.raises(SignatureError) as caught:
        parse(HEAD + text, "z.sig")

    assert WRONG_STATEMENTS[text] in str(caught.value)
    assert caught.value.line >= 4


def test_call_in_place_of_a_function_of_libc_is_refused() -> None:
    with pytest.raises(SignatureError, match="expected no `instead`"):
        parse(f"{HEAD.replace('z_open', 'libc')}OTHER int f(int a)\n    instead = g(a)")


def test_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(SignatureError, match="No such file"):
        read(tmp_path / "absent.sig")
    (tmp_path / "binary.sig").write_bytes(b"\xff\xfe")
    with pytest.raises(SignatureError, match="expected UTF-8"):
        read(tmp_path / "binary.sig")


VALID = """OTHER int f|g(int a: enum{A/B}, const int *b: array(n(1)), ...) -> id
    custom   # by hand
    extra x: hex = 3
    value a = "#"
"""


@given(st.integers(0, len(VALID)), st.integers(0, 9), st.text(alphabet="afx:(){}[]|=->,*.#\"'\n\t 0", max_size=9))
def test_damaged_file_is_refused_or_read_and_never_worse(at: int, less: int, more: str) -> None:
    try:
        file = parse(HEAD + VALID[:at] + more + VALID[at + less :])
    except SignatureError:
        return
    assert without_lines(parse(format_file(file))) == without_lines(file)


# ---- printed and read again ----

names = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True).map(lambda name: f"p{name}")
typed_roles = st.sampled_from(
    [
        ("int {}", ("", "int", "count", "fd", "dirfd", "hex", "flags", "enum{A//B}", "handle", "opaque", "offset")),
        ("unsigned long {}", ("", "uint", "size", "hex", "mode", "count")),
        ("double {}", ("", "double", "opaque")),
        ("const char *{}", ("", "text", "path", "opaque")),
        ("char *{}", ("", "text", "buffer")),
        ("void *{}", ("", "buffer", "handle", "hex")),
        ("const int64_t *{}", ("", "array(3)", "opaque")),
        ("hid *{}", ("new_handle", "handle", "request", "array(n(1, 2))")),
        ("int {}[]", ("array(2)", "")),
        ("point {}", ("",)),
        ("int (*{})(int, char *)", ("",)),
        ("Unnamed **{}", ("", "opaque")),
    ]
)


@st.composite
def parameters(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(names, max_size=5, unique=True))
    rows = []
    for name in chosen:
        declaration, roles = draw(typed_roles)
        role = draw(st.sampled_from(roles))
        space = draw(st.sampled_from(["", " ", "\n   "]))
        rows.append(declaration.format(name) + (f"{space}: {role}" if role else ""))
    return draw(st.sampled_from([", ", ",", " ,\n      "])).join(rows) or "void"


@st.composite
def statements(draw: st.DrawFn, symbol: str) -> str:
    result = draw(st.sampled_from(["int", "hid", "const char *", "void *", "unsigned", "double"]))
    symbols = "|".join(f"{symbol}{i}" for i in range(draw(st.integers(1, 3))))
    arrow = draw(st.sampled_from(["", " -> none", " -> status", " -> id"]))
    attributes = draw(
        st.lists(
            st.sampled_from(
                ["failed = result == 3", "error = e()", "bytes = 7", "requested = g(1, 2)", "offset = 5",
                 "class = meta", "flags = collective  nonblocking", "flags = f(3) | 1", "name = other",
                 "instead = h(2)", "custom"]
            ), unique_by=lambda row: row.split()[0], max_size=4,
        )
    )  # fmt: skip
    attributes += draw(st.lists(st.sampled_from(["before = a()", "after = b();", "extra x: hex = 3"]), max_size=3))
    text = f"{draw(st.sampled_from(KINDS))} {result} {symbols}({draw(parameters())}){arrow}"
    return "\n".join([text, *[f"  {row}   # why" for row in attributes]])


@st.composite
def files(draw: st.DrawFn) -> str:
    head = [*HEAD.splitlines(), "type hid = int64_t", "type point = struct { double x; double y; }"]
    head += draw(st.lists(st.sampled_from(["fails result < 0", "error e(result)", "type gone = opaque"]), unique=True))
    return "\n".join([*head, *[draw(statements(f"s{i}_")) for i in range(draw(st.integers(0, 3)))]])


@pytest.mark.slow
@given(files())
def test_printed_file_is_read_as_the_same(text: str) -> None:
    file = parse(text)

    assert without_lines(parse(format_file(file))) == without_lines(file)
