import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from omnigram.quickstart.stage import Runner, Stage, StageError


def run(folder, stage):
    lines = []
    record = Runner(folder, 1, 10, lines.append).run(stage)
    return record, lines


def counting(folder, *, inputs=()):
    """A stage that leaves one more letter in a tally each time it really runs."""
    return Stage("count", "count", ["sh", "-c", f"printf x >> {folder}/tally; touch {folder}/out"], inputs=inputs,
                 outputs=[folder / "out"])


def test_a_stage_is_not_repeated_for_the_same_inputs(tmp_path):
    (tmp_path / "input").write_text("a")
    stage = counting(tmp_path, inputs=[tmp_path / "input"])
    first, _ = run(tmp_path, stage)
    again, lines = run(tmp_path, stage)
    assert (tmp_path / "tally").read_text() == "x" and again.cached and "done before" in lines[0]
    assert again.seconds == first.seconds
    (tmp_path / "input").write_text("b")
    run(tmp_path, stage)
    (tmp_path / "out").unlink()
    run(tmp_path, stage)
    assert (tmp_path / "tally").read_text() == "xxx"


def test_a_folder_counts_by_its_files(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("1")
    stage = counting(tmp_path, inputs=[tmp_path / "in"])
    run(tmp_path, stage), run(tmp_path, stage)
    (tmp_path / "in" / "b").write_text("2")
    run(tmp_path, stage)
    assert (tmp_path / "tally").read_text() == "xx"


def test_a_failure_is_named_and_not_remembered(tmp_path):
    stage = Stage("bad", "make it", ["sh", "-c", "exit 3"])
    for _ in range(2):
        with pytest.raises(StageError, match=r"make it failed \(exit status 3\). Alone: sh -c 'exit 3'"):
            run(tmp_path, stage)
    with pytest.raises(StageError, match="left no .*nothing"):
        run(tmp_path, Stage("idle", "idle", ["true"], outputs=[tmp_path / "nothing"]))
    with pytest.raises(StageError, match="SIGKILL"):
        run(tmp_path, Stage("shot", "shot", ["sh", "-c", "kill -9 $$"]))


def test_peak_memory_is_the_child_s(tmp_path, root):
    """In a process of its own: Linux never counts a child as less than its parent, and pytest has torch loaded."""
    code = textwrap.dedent(f"""
        import sys
        from omnigram.quickstart.stage import Runner, Stage
        big = "x = bytearray(300 * 2**20); x[::4096] = bytes(len(x[::4096]))"
        print(Runner({str(tmp_path)!r}, 1, 10).run(Stage("big", "big", [sys.executable, "-c", big])).peak_rss_bytes)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(root / "python")})
    assert 300 * 2**20 <= int(done.stdout.split()[-1]) < 400 * 2**20


def test_left_over_outputs_are_removed_unless_resumed(tmp_path):
    out = tmp_path / "out"
    command = ["sh", "-c", f"mkdir -p {out}; echo x >> {out}/log; test -e {tmp_path}/go"]
    for resume, lines in ((False, 1), (True, 2)):
        (tmp_path / "go").unlink(missing_ok=True)
        stage = Stage(f"part-{resume}", "part", command, outputs=[out], resume=resume)
        with pytest.raises(StageError):
            run(tmp_path, stage)
        (tmp_path / "go").touch()
        run(tmp_path, stage)
        assert len((out / "log").read_text().splitlines()) == lines


def test_ctrl_c_ends_the_child_and_nothing_is_taken_for_done(tmp_path, root):
    code = textwrap.dedent(f"""
        import signal, sys
        from pathlib import Path
        from omnigram.quickstart.stage import Runner, Stage
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
        folder = Path({str(tmp_path)!r})
        stage = Stage("sleep", "sleep", ["sh", "-c", f"echo $$ > {{folder}}/pid; exec sleep 60"])
        try:
            Runner(folder, 1, 10).run(stage)
        except KeyboardInterrupt:
            sys.exit(130)
    """)
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True,
                             env={**os.environ, "PYTHONPATH": str(root / "python")})
    pid_file, deadline = tmp_path / "pid", time.monotonic() + 20
    while not (pid_file.exists() and pid_file.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)  # what a terminal does
    assert child.wait(timeout=20) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    assert '"done": false' in (tmp_path / "cache" / "sleep.json").read_text()
