import pytest

from specttui.launch import nccl


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("0", "LOC"), ("1", "PIX"), ("2", "PXB"), ("3", "PHB"), ("4", "SYS"), ("5", "SYS"), ("99", "SYS"),
        ("LOC", "LOC"), ("NVL", "NVL"), ("NVB", "NVB"), ("C2C", "C2C"), ("PIX", "PIX"), ("PXB", "PXB"),
        ("P2C", "P2C"), ("PXN", "PXN"), ("PHB", "PHB"), ("SYS", "SYS"),
        ("sys", None), ("Node", None), ("NODE", None), ("-1", None), ("", None),
    ],
)  # fmt: skip
def test_c02_levels_by_number_and_name(value, level):
    assert nccl.resolved_level(value) == level


def test_c02_a_number_shows_its_name():
    assert nccl.env_meaning("NCCL_P2P_LEVEL", "4") == "4 = SYS: between NUMA nodes"
    assert nccl.env_meaning("NCCL_P2P_LEVEL", "1") == "1 = PIX: on one PCIe switch"
    (problem,) = nccl.validate_env("NCCL_P2P_LEVEL", "2")
    assert (problem.severity, problem.remedy) == ("warn", "write PXB, which says what it means")
    assert nccl.validate_env("NCCL_P2P_LEVEL", "SYS") == []


@pytest.mark.parametrize("value", ["sys", "Node", "NODE", "-1"])
def test_c03_levels_that_are_ignored_are_refused(value):
    (problem,) = nccl.validate_env("NCCL_P2P_LEVEL", value)
    assert problem.severity == "refuse"
    assert problem.text == f"NCCL_P2P_LEVEL={value} is ignored without a word: no such level"


def test_c03_wrong_case_names_the_right_one():
    (problem,) = nccl.validate_env("NCCL_P2P_LEVEL", "sys")
    assert problem.remedy == "write SYS: names are case-sensitive"


def test_c03_true_leaves_p2p_on():
    (problem,) = nccl.validate_env("NCCL_P2P_DISABLE", "true")
    assert problem == nccl.Problem(
        "refuse", "NCCL_P2P_DISABLE=true is read by NCCL as 0: not disabled", "write a plain decimal number"
    )
    (two,) = nccl.validate_env("NCCL_P2P_DISABLE", "2")
    assert (two.severity, two.text) == ("warn", "NCCL_P2P_DISABLE=2: not disabled")
    assert nccl.validate_env("NCCL_P2P_DISABLE", "1") == []
    assert nccl.env_meaning("NCCL_P2P_DISABLE", "1") == "disabled"
    assert nccl.env_meaning("NCCL_GRAPH_REGISTER", "0") == "off"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_PROTO", "LL"), ("NCCL_PROTO", "ll"), ("NCCL_PROTO", "SIMPLE"), ("NCCL_PROTO", "^LL128"),
        ("NCCL_PROTO", "LL,Simple"), ("NCCL_PROTO", "LL;allreduce:Simple"), ("NCCL_ALGO", "Ring"),
        ("NCCL_ALGO", "ring,tree"), ("NCCL_ALGO", "allreduce:tree"), ("NCCL_ALGO", "^NVLS"),
    ],
)  # fmt: skip
def test_c04_valid_names_in_any_case(name, value):
    assert [problem for problem in nccl.validate_env(name, value) if "corrupt" not in problem.text] == []


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("NCCL_PROTO", "FOO", "'FOO' is unknown"),
        ("NCCL_PROTO", "LL, Simple", "' Simple' is unknown"),
        ("NCCL_ALGO", "rnig", "'rnig' is unknown"),
        ("NCCL_ALGO", "gather:ring", "'gather' is no collective"),
        ("NCCL_ALGO", "allreduce:tree;ring", "'ring' lacks its collective"),
        ("NCCL_ALGO", "allgather:nvls,reducescatter:nvls", "'reducescatter:nvls' is unknown"),
    ],
)
def test_c04_unknown_names_are_refused(name, value, what):
    (problem,) = nccl.validate_env(name, value)
    assert problem.severity == "refuse"
    assert problem.text == (
        f"{name}: {what}: NCCL 2.24 and newer end the start, older ones drop it and find no protocol"
    )


def test_ll128_and_a_lone_tree_are_warned_of():
    (ll128,) = nccl.validate_env("NCCL_PROTO", "LL128")
    assert (ll128.severity, "corrupt data" in ll128.text) == ("warn", True)
    (tree,) = nccl.validate_env("NCCL_ALGO", "Tree")
    assert (tree.severity, tree.remedy) == ("warn", "write allreduce:Tree")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8x", 8),
        ("abc", 0),
        ("0x10", 16),
        ("010", 8),
        (" 7", 7),
        ("-3", -3),
        ("+4", 4),
        ("", 0),
        ("0", 0),
        ("0x", 0),
    ],
)
def test_c05_what_c_reads(text, number):
    assert nccl.c_integer(text) == number


@pytest.mark.parametrize(("value", "number"), [("8x", 8), ("abc", 0), ("0x10", 16)])
def test_c05_only_plain_integers_pass(value, number):
    (problem,) = nccl.validate_env("NCCL_MIN_NCHANNELS", value)
    assert (problem.severity, problem.text) == (
        "refuse",
        f"NCCL_MIN_NCHANNELS={value} is read by NCCL as {number}",
    )
    assert nccl.env_meaning("NCCL_MIN_NCHANNELS", value) == f"{value} = {number}"
    assert nccl.validate_env("NCCL_MIN_NCHANNELS", "8") == []


def test_c05_a_minimum_above_the_maximum():
    (problem,) = nccl.validate_environment({"NCCL_MIN_NCHANNELS": "16", "NCCL_MAX_NCHANNELS": "8"})
    assert problem.text == "NCCL_MIN_NCHANNELS=16 is above NCCL_MAX_NCHANNELS=8: the maximum caps it"
    assert nccl.validate_environment({"NCCL_MIN_NCHANNELS": "8", "NCCL_MAX_NCHANNELS": "8"}) == []


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        (
            "NCCL_NTHREADS",
            "200",
            "NCCL_NTHREADS=200 is not one of 64, 128, 256, 512: NCCL takes another value",
        ),
        ("NCCL_BUFFSIZE", "4", "NCCL_BUFFSIZE=4 is outside 1024 to 2147483648: NCCL caps or rejects it"),
        ("NCCL_MIN_NCHANNELS", "128", "NCCL_MIN_NCHANNELS=128 is outside 1 to 64: NCCL caps or rejects it"),
        ("NCCL_PROTOO", "LL", "NCCL_PROTOO is no variable we know of: NCCL may ignore it"),
        ("NCCL_PROTO", "", "NCCL_PROTO is empty: NCCL takes its default"),
    ],
)
def test_other_warnings(name, value, text):
    (problem,) = nccl.validate_env(name, value)
    assert (problem.severity, problem.text) == ("warn", text)


def test_p2p_disabled_makes_the_level_void():
    (problem,) = nccl.validate_environment({"NCCL_P2P_DISABLE": "1", "NCCL_P2P_LEVEL": "SYS"})
    assert problem.text == "NCCL_P2P_DISABLE=1 makes NCCL_P2P_LEVEL void"


def test_c08_files_are_named_for_checking_on_the_host():
    env = {"NCCL_GRAPH_FILE": "/g.xml", "NCCL_TOPO_FILE": "", "NCCL_PROTO": "LL"}
    assert nccl.env_paths(env) == {"NCCL_GRAPH_FILE": "/g.xml"}
    (problem,) = nccl.validate_env("NCCL_GRAPH_FILE", "/g.xml")
    assert (problem.severity, "memory" in problem.text) == ("warn", True)


def test_others_variables_pass():
    assert nccl.validate_env("SGLANG_X", "sys") == []
    assert nccl.validate_env("NCCL_DEBUG", "INFO") == []
    assert nccl.validate_env("NCCL_UNHEARD_OF_THING", "1") == []


def test_bytes_are_told_in_mib():
    assert nccl.env_meaning("NCCL_BUFFSIZE", "8388608") == "8 MiB"
