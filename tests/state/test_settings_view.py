"""Requested against effective settings, as the snapshot has them (CASES A17, A28)."""

from __future__ import annotations

from support.envelopes import run_started
from support.folding import Folding

from specttui.events import (
    Launch,
    LoadStarted,
    RunStarted,
    ServerFound,
    ServerInfo,
    ServerReady,
    ServerStarting,
    SpecSettings,
)

ASKED = SpecSettings(algorithm="EAGLE3", num_steps=3, eagle_topk=1, num_draft_tokens=8)
LAUNCH = Launch(
    argv=(
        "python", "-m", "sglang.launch_server", "--model-path", "m", "--speculative-algorithm", "EAGLE3",
        "--speculative-num-steps", "3", "--speculative-eagle-topk", "1",
        "--speculative-num-draft-tokens", "8", "--enable-mixed-chunk",
    )
)  # fmt: skip
WORDS = (
    "speculative_num_draft_tokens is adjusted to speculative_num_steps + 1 when speculative_eagle_topk == 1"
)
LISTING = (
    "[2026-11-29 12:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE3', "
    "speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4, "
    "max_running_requests=48, enable_mixed_chunk=True, attention_backend='fa3', decode_log_interval=40)"
)


def started(*lines: str) -> Folding:
    """A restart whose log says these lines before it is ready."""
    log = Folding(ServerStarting(pid=1, launch=LAUNCH))
    log.log(*lines)
    log.take(ServerReady(pid=1))
    log.take(RunStarted(run_id=1, label="steps 3", launch=LAUNCH, settings=ASKED))
    return log


def test_a17_the_effective_draft_tokens_are_shown_with_the_servers_reason() -> None:
    snapshot = started(WORDS, LISTING).snapshot()
    assert snapshot.settings.num_draft_tokens == 4
    assert "draft 4" in snapshot.chips
    assert snapshot.changed_settings == ("draft",)
    assert snapshot.setting_changes == (f"draft 8 -> 4: {WORDS}",)
    (row,) = snapshot.runs
    assert row.settings.num_draft_tokens == 4
    assert row.notes == (f"the server changed draft 8 -> 4: {WORDS}",)


def test_the_words_alone_are_enough() -> None:
    """The words come before any stamp, the listing may be missing."""
    snapshot = started(WORDS).snapshot()
    assert snapshot.settings.num_draft_tokens == 4
    assert snapshot.setting_changes == (f"draft 8 -> 4: {WORDS}",)


def test_only_changes_of_what_was_asked_for_are_changes() -> None:
    backend = "Attention backend not specified. Use fa3 backend by default."
    snapshot = started(WORDS, backend, LISTING).snapshot()
    assert snapshot.changed_settings == ("draft",)


def test_limits_that_the_server_sets_by_itself_count() -> None:
    reset = "Max running requests is reset to 48 for speculative decoding."
    snapshot = started(WORDS, reset, LISTING).snapshot()
    assert snapshot.changed_settings == ("draft", "max running requests")
    assert snapshot.setting_changes[1] == f"max running requests not set -> 48: {reset}"


def test_a17_more_requests_than_the_server_lets_run_are_warned_of() -> None:
    log = started(WORDS, LISTING)
    log.take(LoadStarted(load_id=1, concurrency=48, requests=96, max_new_tokens=64))
    assert log.snapshot().alerts == ()
    log.take(LoadStarted(load_id=2, concurrency=64, requests=96, max_new_tokens=64))
    (alert,) = log.snapshot().alerts
    assert alert.message.startswith(
        "The load keeps 64 requests open, but with speculation the server runs at most 48 at once"
    )


def test_a_baseline_is_not_warned_of_a_limit_of_speculation() -> None:
    log = Folding(run_started(1, "baseline"))
    log.log("[2026-11-29 12:00:00] server_args=ServerArgs(model_path='m', max_running_requests=48)")
    log.take(LoadStarted(load_id=1, concurrency=64, requests=96, max_new_tokens=64))
    assert log.snapshot().alerts == ()


def test_a28_dflash_runs_one_step_whatever_was_asked() -> None:
    words = "DFLASH only supports speculative_num_steps == 1; overriding speculative_num_steps=5 to 1."
    launch = Launch(
        argv=(*LAUNCH.argv[:5], "--speculative-algorithm", "DFLASH", "--speculative-num-steps", "5")
    )
    log = Folding(ServerStarting(pid=1, launch=launch))
    log.log(words)
    log.take(ServerReady(pid=1))
    settings = SpecSettings(algorithm="DFLASH", num_steps=5)
    log.take(RunStarted(run_id=1, label="steps 5", launch=launch, settings=settings))
    snapshot = log.snapshot()
    assert snapshot.settings.num_steps == 1
    assert snapshot.setting_changes == (f"steps 5 -> 1: {words}",)


def test_a28_nextn_is_eagle_and_no_change() -> None:
    launch = Launch(argv=(*LAUNCH.argv[:5], "--speculative-algorithm", "NEXTN"))
    log = Folding(ServerStarting(pid=1, launch=launch))
    log.log("[2026-11-29 12:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE')")
    assert log.snapshot().changed_settings == ()


def test_words_about_the_next_server_in_the_log_do_not_mix_with_the_last_ones() -> None:
    log = Folding(ServerFound(server=ServerInfo(pid=1, launch=LAUNCH)))
    log.take(RunStarted(run_id=1, label="steps 3", launch=LAUNCH, settings=ASKED))
    reset = "Max running requests is reset to 48 for speculative decoding."
    log.log(reset, LISTING, "[2026-11-29 12:00:30] The server is fired up and ready to roll!", WORDS, LISTING)
    assert log.snapshot().changed_settings == ("draft",)


def test_where_the_log_says_nothing_discovery_tells() -> None:
    effective = ASKED.model_copy(update={"num_draft_tokens": 4})
    server = ServerInfo(pid=1, launch=LAUNCH, requested=ASKED, effective=effective)
    snapshot = Folding(ServerFound(server=server)).snapshot()
    assert snapshot.setting_changes == ("draft 8 -> 4",)


def test_the_log_interval_of_the_launch_is_the_one_that_counts() -> None:
    launch = Launch(argv=(*LAUNCH.argv, "--decode-log-interval", "5"))
    log = Folding(RunStarted(run_id=1, label="steps 3", launch=launch, settings=ASKED))
    assert log.state.decode.interval == 5
    assert (
        started(LISTING.replace("decode_log_interval=40", "decode_log_interval=10")).state.decode.interval
        == 10
    )
