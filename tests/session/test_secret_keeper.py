"""A secret that only its launch can tell is blanked out wherever it is repeated."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specttui import events as ev
from specttui.launch.secret_shapes import HIDDEN
from specttui.session.emitter import Emitter
from specttui.session.secret_keeper import SecretKeeper
from specttui.state.session_state import SessionState


def launch(key: str, **env: str) -> ev.Launch:
    return ev.Launch(argv=("sglang", "serve", "m", "--api-key", key), env=env)


@given(st.text(min_size=8).filter(lambda text: not text.startswith("-") and HIDDEN not in text))
def test_no_event_repeats_a_known_secret(secret: str) -> None:
    keeper = SecretKeeper()
    keeper.learn(launch(secret))
    failure = ev.FailureSeen(
        category="x", title=f"a {secret} b", lines=(secret, "c"), details={"d": secret}, fatal=True
    )
    for event in (
        failure,
        ev.LogLines(lines=(secret,)),
        ev.CommandFailed(command_id=1, name="n", title=secret),
    ):
        hidden = keeper.without(event)
        assert type(hidden) is type(event)
        assert secret not in str(hidden.model_dump())


def test_texts_around_it_stay() -> None:
    keeper = SecretKeeper()
    keeper.learn(launch("hunter2-hunter2", MY_PASSWORD="correct horse"))
    event = keeper.without(
        ev.Alert(severity=ev.Severity.ERROR, message="got hunter2-hunter2, correct horse!")
    )
    assert event == ev.Alert(severity=ev.Severity.ERROR, message=f"got {HIDDEN}, {HIDDEN}!")


def test_a_longer_secret_hides_before_its_part() -> None:
    keeper = SecretKeeper()
    keeper.learn(launch("12345678"))
    keeper.learn(launch("12345678-and-more"))
    assert keeper.without(ev.NoteAdded(text="12345678-and-more 12345678")) == ev.NoteAdded(
        text=f"{HIDDEN} {HIDDEN}"
    )


def test_an_event_without_one_is_the_same_object() -> None:
    keeper = SecretKeeper()
    event = ev.NoteAdded(text="nothing")
    assert keeper.without(event) is event
    keeper.learn(launch("hunter2-hunter2"))
    assert keeper.without(event) is event


def test_a_path_that_is_no_unicode_passes() -> None:
    keeper = SecretKeeper()
    keeper.learn(launch("hunter2-hunter2"))
    event = ev.NoteAdded(text="/data/\udcff")
    assert keeper.without(event) is event


def test_what_is_recorded_and_folded_is_without_it() -> None:
    kept: list[ev.Envelope] = []
    state = SessionState()
    emitter = Emitter(state, kept)
    emitter.secrets.learn(launch("hunter2-hunter2"))
    emitter.emit(ev.LogLines(lines=("key hunter2-hunter2 refused",)))
    emitter.beside(state, "other").emit(ev.NoteAdded(text="hunter2-hunter2"))
    assert list(state.log) == [f"key {HIDDEN} refused"]
    assert state.notes == [HIDDEN]
    assert "hunter2" not in "".join(envelope.model_dump_json() for envelope in kept)
