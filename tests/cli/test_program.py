"""How the program speaks whatever the command: one line an error, exit codes, nothing a terminal obeys."""

import io
import os
import subprocess
import sys

import pytest

from fabric_dagster.cli import output
from fabric_dagster.cli.main import main


def fabric(capsys, *words):
    """Run the program in this process: (exit code, standard output, standard error)."""
    with pytest.raises(SystemExit) as end:
        main(list(words))
    out, err = capsys.readouterr()
    return end.value.code, out, err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nothing"], "fabric: No such command 'nothing'. See `fabric --help` [cli.usage]\n"),
        (
            ["pak"],
            "fabric: No such command 'pak'. Did you mean 'pack'? See `fabric --help` [cli.usage]\n",
        ),
        (
            ["photoshop", "render", "a.psd"],
            (
                "fabric: photoshop render: Missing argument 'OUT.png'."
                " See `fabric photoshop render --help` [cli.usage]\n"
            ),
        ),
        (
            ["spine", "verify", "--since", "-3"],
            (
                "fabric: spine verify: Invalid value for '--since': -3 is not in the range x>=0."
                " See `fabric spine verify --help` [cli.usage]\n"
            ),
        ),
    ],
)
def test_a_call_that_is_off_is_one_line(capsys, words, line):
    """The argument parser's complaints look like every other error, with exit code 2."""
    assert (2, "", line) == fabric(capsys, *words)


def test_a_name_with_a_line_end_stays_on_one_line(capsys, tmp_path):
    """Also where the operating system says no to it."""
    code, out, err = fabric(capsys, "photoshop", "inspect", str(tmp_path / ("two\nlines" + "x" * 300)))
    assert (1, "", 1) == (code, out, err.count("\n"))
    assert "two\\nlines" in err


def test_a_full_disk_at_the_last_byte_is_said(monkeypatch):
    """Output that is still held back when the command ends is not lost silently."""

    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    errors = io.StringIO()
    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "stderr", errors)
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (1, "fabric: No space left on device [os.28]\n") == (end.value.code, errors.getvalue())


def test_a_defect_is_one_line_too(capsys, monkeypatch):
    """Whatever nobody foresaw; the traceback is for whoever asks for it."""

    def broken(*_: object, **__: object):
        msg = "a\nb"
        raise KeyError(msg)

    monkeypatch.setattr("resources.home.Home.find", broken)
    code, out, err = fabric(capsys, "spine", "tail")
    assert (1, "", 1) == (code, out, err.count("\n"))
    assert "[fabric.defect]" in err
    monkeypatch.setenv("FABRIC_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main(["spine", "tail"])


def test_an_interrupt_is_130_and_one_line(capsys, monkeypatch):
    """Whatever was running."""

    def interrupted(*_: object, **__: object):
        raise KeyboardInterrupt

    monkeypatch.setattr("resources.home.Home.find", interrupted)
    assert (130, "", "fabric: interrupted\n") == fabric(capsys, "spine", "tail")


def test_text_for_people_holds_nothing_that_a_terminal_obeys(capsys):
    """Escapes, bells, reordering and half characters are shown; tabs, line ends and letters stay."""
    output.say("a\x1b[31m\x07 \u202eb \udcff\tö\r\n日本 \r!")
    assert "a\\x1b[31m\\x07 \\u202eb \\udcff\tö\r\n日本 \\r!\n" == capsys.readouterr().out


def test_an_interrupt_of_the_very_start_is_130_too(monkeypatch, capsys):
    """While the command modules are still being imported."""

    def interrupted() -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("fabric_dagster.cli.main.build", interrupted)
    assert (130, "", "fabric: interrupted\n") == fabric(capsys, "spine", "tail")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_no_failure(closed):
    """A caller that wants no output may close it."""
    call = "import sys; from fabric_dagster.cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-c", call, "schema"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (0, "") == (done.returncode, done.stderr)
