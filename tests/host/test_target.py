"""Targets as users write them."""

import pytest

from specttui.errors import UsageError
from specttui.host.target import Target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("gpu-host", Target("gpu-host")),
        (" gpu-host ", Target("gpu-host")),
        ("root@gpu-host", Target("gpu-host", "root")),
        ("root@gpu-host:2222", Target("gpu-host", "root", 2222)),
        ("10.1.230.174:22", Target("10.1.230.174", None, 22)),
        ("first.last@corp@gpu", Target("gpu", "first.last@corp")),
        ("::1", Target("::1")),
        ("fe80::1%eth0", Target("fe80::1%eth0")),
        ("[::1]", Target("::1")),
        ("me@[::1]:2222", Target("::1", "me", 2222)),
        ("ssh://gpu-host", Target("gpu-host")),
        ("ssh://me@gpu-host:2200/", Target("gpu-host", "me", 2200)),
        ("ssh://me%40corp@[::1]:2200", Target("::1", "me@corp", 2200)),
    ],
)
def test_forms(text: str, target: Target):
    assert Target.parse(text) == target


@pytest.mark.parametrize("text", ["gpu", "me@gpu", "me@gpu:22", "me@[::1]:22", "::1"])
def test_a_target_is_shown_as_it_is_written(text: str):
    assert str(Target.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "The host is empty."),
        ("@gpu", "The user before @ is empty."),
        ("me@", "The host is empty."),
        ("gpu:", "The port '' is not a number from 1 to 65535."),
        ("gpu:ssh", "The port 'ssh' is not a number from 1 to 65535."),
        ("gpu:0", "The port '0' is not a number from 1 to 65535."),
        ("gpu:65536", "The port '65536' is not a number from 1 to 65535."),
        ("gpu:²", "The port '²' is not a number from 1 to 65535."),
        ("[::1", "The host cannot be read."),
        ("[]", "The host is empty."),
        ("-oProxyCommand=x", "'-oProxyCommand=x' is not a host name or address."),
        ("gpu host", "'gpu host' is not a host name or address."),
        ("gpu;id", "'gpu;id' is not a host name or address."),
        ("ssh://", "The host is empty."),
        ("ssh://gpu/path", "An ssh:// URL names a user, a host and a port, nothing after them."),
        ("ssh://me:secret@gpu", "The URL holds a password"),
        ("ssh://gpu:99999", "Port out of range 0-65535."),
    ],
)
def test_what_is_no_target_is_refused_with_the_reason(text: str, cause: str):
    with pytest.raises(UsageError) as refused:
        Target.parse(text)
    assert refused.value.cause.startswith(cause)
    assert refused.value.remedy
    assert "secret" not in str(refused.value)
