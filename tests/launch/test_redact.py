import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.launches import launch

from specttui.events import Launch
from specttui.launch.redact import is_secret_flag, is_secret_variable, redact, relevant_env


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        ("sglang serve m --api-key hunter2", "sglang serve m --api-key ***"),
        ("sglang serve m --api-key=hunter2", "sglang serve m --api-key=***"),
        ("sglang serve m --admin-api-key hunter2 --tp 8", "sglang serve m --admin-api-key *** --tp 8"),
        ("sglang serve m --admin hunter2", "sglang serve m --admin ***"),
        ("sglang serve m --ssl-keyfile-password hunter2", "sglang serve m --ssl-keyfile-password ***"),
        ("sglang serve m --hf-token hunter2", "sglang serve m --hf-token ***"),
        ("env HF_TOKEN=hunter2 sglang serve m", "env HF_TOKEN=*** sglang serve m"),
        ("sglang serve https://me:hunter2@host/m", "sglang serve https://***@host/m"),
        ("sglang serve https://host/m?token=hunter2&x=1", "sglang serve https://host/m?token=***&x=1"),
        ('sglang serve m --x {"api_key":"hunter2"}', 'sglang serve m --x {"api_key":"***"}'),
        ("sglang serve m --x hf_abcdefghijklmnopqrstuv", "sglang serve m --x ***"),
    ],
)  # fmt: skip
def test_secrets_on_the_command_line(argv, shown):
    assert redact(launch(argv)).argv == tuple(shown.split())


def test_secrets_inside_a_shell_line():
    text = (
        "A=1 HF_TOKEN='hunter2 hunter2' python -m sglang.launch_server --api-key hunter3 --tokenizer-path t"
    )
    assert redact(Launch(argv=("bash", "-c", text))).argv[2] == (
        "A=1 HF_TOKEN=*** python -m sglang.launch_server --api-key *** --tokenizer-path t"
    )


def test_a_secret_is_hidden_wherever_it_is_repeated():
    asked = launch(
        "sglang serve m --api-key hunter2hunter2 --header X:hunter2hunter2", SGL_X="hunter2hunter2!"
    )
    shown = redact(asked)
    assert shown.argv[-1] == "X:***"
    assert shown.env == {"SGL_X": "***!"}


@pytest.mark.parametrize(
    "argv",
    [
        "sglang serve m --tokenizer-path t --speculative-num-draft-tokens 4 --speculative-token-map map.pt",
        "sglang serve m --max-total-tokens 5 --ssl-keyfile /k.pem --host 0.0.0.0",
        "sglang serve m --dist-init-addr 10.0.0.1:5000 --kv-events-config {}",
    ],
)
def test_what_only_sounds_secret_stays(argv):
    assert redact(launch(argv)).argv == tuple(argv.split())


def test_environment_is_reduced_and_redacted():
    env = {
        "HF_TOKEN": "a", "HF_HOME": "/hf", "OPENAI_API_KEY": "b", "NCCL_PROTO": "LL", "SGLANG_X": "1",
        "SGLANG_SIMULATE_ACC_TOKEN_MODE": "x", "SGLANG_API_KEY": "c", "HOME": "/root", "PYTHONPATH": "/p",
        "VIRTUAL_ENV": "/v", "LD_LIBRARY_PATH": "/l", "OMP_NUM_THREADS": "1", "SIMULATE_ACC_LEN": "2",
        "AWS_SECRET_ACCESS_KEY": "d", "TORCH_X": "1", "PYTORCH_X": "1", "CUDA_X": "1", "TRITON_X": "1",
        "FLASHINFER_X": "1", "VLLM_X": "1", "SGL_X": "1", "HF_ENDPOINT": "https://me:pw@mirror",
    }  # fmt: skip
    shown = redact(launch(**env)).env
    gone = {"OPENAI_API_KEY", "HOME", "AWS_SECRET_ACCESS_KEY"}
    assert set(shown) == set(env) - gone
    assert {name for name, value in shown.items() if value == "***"} == {"HF_TOKEN", "SGLANG_API_KEY"}
    assert shown["HF_ENDPOINT"] == "https://***@mirror"
    assert shown["SGLANG_SIMULATE_ACC_TOKEN_MODE"] == "x"


def test_further_variables_can_be_kept():
    assert relevant_env({"B": "1", "NCCL_X": "2", "A": "3"}, keep={"B"}) == {"B": "1", "NCCL_X": "2"}
    assert redact(launch(MY_PASSWORD="x", MY="y"), keep={"MY_PASSWORD", "MY"}).env == {
        "MY": "y",
        "MY_PASSWORD": "***",
    }


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("HF_TOKEN", True), ("HUGGING_FACE_HUB_TOKEN", True), ("MY_TOKEN_VALUE", True), ("X_API_KEY", True),
        ("DB_PASSWORD", True), ("CLIENT_SECRET_1", True), ("AWS_ACCESS_KEY_ID", True),
        ("wandb_api_key", True), ("TOKENIZERS_PARALLELISM", False), ("SGLANG_MAX_TOKENS", False),
        ("NCCL_PROTO", False), ("KEYS_X", False),
    ],
)  # fmt: skip
def test_secret_variables(name, secret):
    assert is_secret_variable(name) is secret


def test_secret_flags_are_flags():
    assert is_secret_flag("--my-token")
    assert not is_secret_flag("api-key")
    assert not is_secret_flag("--keyboard")


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=30))
def test_no_secret_ever_survives(text):
    secret = f"Zq{text}"
    asked = Launch(
        argv=("sglang", "serve", "m", "--api-key", secret, f"--x={secret}", f"--admin-api-key={secret}y"),
        env={"HF_TOKEN": f"{secret}t", "NCCL_X": f"a{secret}b", "SGLANG_API_KEY": secret},
    )
    assert secret not in repr(redact(asked))


def test_a_weak_key_does_not_hide_the_entry_point():
    asked = launch("python -m sglang.launch_server --api-key launch_server --x launch_server")
    assert redact(asked).argv == ("python", "-m", "sglang.launch_server", "--api-key", "***", "--x", "***")


def test_redacting_twice_changes_nothing():
    asked = launch("sglang serve https://a:b@c --api-key k", HF_TOKEN="t", HF_X="y")
    assert redact(redact(asked)) == redact(asked)
