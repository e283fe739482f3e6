"""The simulated scheduler in virtual time: its decode lines say what the timing model says."""

import statistics

import pytest
from support.simulated_scheduler import Models, decode_lines, run_scheduler

from specttui.demo.simulated.sglang.simulation.messages import TokensOut
from specttui.demo.simulated.sglang.simulation.setup import timing_model


def mean_throughput(caplog):
    return statistics.fmean(float(line["tok_s"]) for line in decode_lines(caplog))


@pytest.mark.parametrize(
    ("steps", "protocol", "tok_s"),
    [
        (0, "", 88.8),
        (5, "", 71.0),
        (10, "", 59.6),
        (2, "", 70.7),
        (2, "LL", 94.1),
        (3, "LL", 92.3),
        (5, "LL", 81.6),
    ],
)
def test_the_long_run_mean_of_the_decode_lines_is_the_models(
    models, monkeypatch, caplog, steps, protocol, tok_s
):
    monkeypatch.setenv("NCCL_PROTO", protocol)
    run_scheduler(models.args(steps), 12000)
    assert mean_throughput(caplog) == pytest.approx(tok_s, rel=0.02)


def test_the_synchronous_worker_has_the_same_means(models, monkeypatch, caplog):
    monkeypatch.setenv("SGLANG_ENABLE_SPEC_V2", "0")
    run_scheduler(models.args(5), 12000)
    assert mean_throughput(caplog) == pytest.approx(71.0, rel=0.02)


def test_the_h200_profile_has_the_measured_throughput(models, monkeypatch, caplog):
    monkeypatch.setenv("SPECTTUI_DEMO_PROFILE", "h200")
    run_scheduler(models.args(0, tp=1), 4000)
    assert mean_throughput(caplog) == pytest.approx(204.1, rel=0.02)


def test_eight_requests_share_slower_cycles(models, caplog):
    args = models.args(5)
    run_scheduler(args, 4000, concurrency=8)
    assert mean_throughput(caplog) == pytest.approx(timing_model(args).throughput_tok_s(8), rel=0.04)
    assert {line["running"] for line in decode_lines(caplog)} == {"8"}


def test_a_line_comes_every_forty_decode_forwards(models, caplog):
    run_scheduler(models.args(0, "--disable-cuda-graph"), 1 + 400)
    assert len(decode_lines(caplog)) == 10


def test_the_lines_interval_follows_its_flag(models, caplog):
    run_scheduler(models.args(0, "--decode-log-interval", "10"), 1 + 400)
    assert len(decode_lines(caplog)) == 40


def test_accept_length_and_rate_belong_together(models, caplog):
    run_scheduler(models.args(2), 4000)
    lines = decode_lines(caplog)
    assert statistics.fmean(float(line["accept_len"]) for line in lines) == pytest.approx(1.832, rel=0.02)
    for line in lines:
        rate = (float(line["accept_len"]) - 1) / 2
        assert float(line["accept_rate"]) == pytest.approx(rate, abs=0.011)


def test_without_speculation_lines_say_nothing_of_acceptance(models, caplog):
    run_scheduler(models.args(0), 200)
    assert {line["accept_len"] for line in decode_lines(caplog)} == {None}


def test_wrong_draft_layers_drop_acceptance(models, tmp_path, caplog):
    folder = tmp_path / "wrong"
    folder.mkdir()
    run_scheduler(Models(folder, layer_ids=[2, 30, 58]).args(5), 4000)
    mean = statistics.fmean(float(line["accept_len"]) for line in decode_lines(caplog))
    assert mean == pytest.approx(1.2345, rel=0.02)


def test_an_answer_reports_its_verifies(models):
    _, mailbox, _ = run_scheduler(models.args(3), 2000)
    answers = [message for message in mailbox.sent if isinstance(message, TokensOut) and message.finished]
    meta = answers[0].meta
    assert meta["completion_tokens"] == 512
    assert meta["spec_accept_length"] == 512 / meta["spec_verify_ct"]
    assert sum(meta["spec_correct_drafts_histogram"]) == meta["spec_verify_ct"]
    assert meta["spec_num_proposed_drafts"] == 3 * meta["spec_verify_ct"]
    drafts = sum(count * number for count, number in enumerate(meta["spec_correct_drafts_histogram"]))
    assert drafts == meta["spec_num_correct_drafts"]


def test_the_same_seed_gives_the_same_lines(models, caplog):
    run_scheduler(models.args(5), 400, seed=7)
    first = [line.group() for line in decode_lines(caplog)]
    caplog.clear()
    run_scheduler(models.args(5), 400, seed=7)
    assert [line.group() for line in decode_lines(caplog)] == first


def test_requests_beyond_the_limit_wait(models, caplog):
    run_scheduler(models.args(0, "--max-running-requests", "2"), 200, concurrency=5)
    assert {(line["running"], line["queue"]) for line in decode_lines(caplog)} == {("2", "3")}
