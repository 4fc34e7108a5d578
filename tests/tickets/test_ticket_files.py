"""Where a ticket's picture may lie: every way out of the roots is closed, on every system."""

import os
import unicodedata

import pytest

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.tickets import TicketFiles

links = pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege on Windows")


def code_of(files, value):
    """The code with which ``value`` is refused, or ``None``."""
    try:
        files.resolve(value)
    except InvalidDocument as error:
        (fault,) = error.faults
        return fault.code if fault.mend else "no mend"
    return None


@pytest.fixture
def files(tmp_path):
    """A desk with an attachment, two roots, and a secret beside them."""
    for path in (
        "inbox/OFFER-1/coin.png",
        "inbox/OFFER-2/other.png",
        "one/sets/coin.png",
        "two/gem.png",
        "secret.png",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    return TicketFiles(tmp_path / "inbox" / "OFFER-1", (tmp_path / "one", tmp_path / "two"))


def test_what_is_found(files, tmp_path):
    """A plain attachment; a path relative to one root; an absolute path inside a root."""
    absolute = (tmp_path / "two" / "gem.png").as_posix()
    found = [files.resolve(value) for value in ("attachment:coin.png", "sets/coin.png", absolute)]
    expected = [tmp_path / "inbox/OFFER-1/coin.png", tmp_path / "one/sets/coin.png", tmp_path / "two/gem.png"]
    assert [path.resolve() for path in expected] == found


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("attachment:", "unsafe_path"),
        ("attachment:.", "unsafe_path"),
        ("attachment:..", "path_climbs"),
        ("attachment:../OFFER-2/other.png", "path_climbs"),
        ("attachment:..\\OFFER-2\\other.png", "path_climbs"),
        ("attachment:sub/coin.png", "unsafe_path"),
        ("attachment:/etc/passwd", "unsafe_path"),
        ("attachment:C:coin.png", "unsafe_path"),
        ("attachment:coin.png:stream", "unsafe_path"),
        ("attachment:coin.png::$DATA", "unsafe_path"),
        ("attachment:coin.png.", "unsafe_path"),
        ("attachment:coin.png ", "unsafe_path"),
        ("attachment: coin.png", "unsafe_path"),
        ("attachment:CON", "unsafe_path"),
        ("attachment:nul.png", "unsafe_path"),
        ("attachment:COM1.png", "unsafe_path"),
        ("attachment:lpt\u00b9.png", "unsafe_path"),
        ("attachment:co\0in.png", "unsafe_path"),
        ("attachment:coin*.png", "unsafe_path"),
        ("attachment:attachment:coin.png", "unsafe_path"),
        ("attachment:" + "x" * 252 + ".png", "unsafe_path"),
        ("attachment:Coin.png", "file_missing"),
        ("attachment:coin.PNG", "file_missing"),
        ("attachment:gem.png", "file_missing"),
        ("ATTACHMENT:coin.png", "unsafe_path"),
        ("../secret.png", "path_climbs"),
        ("sets/../../secret.png", "path_climbs"),
        ("sets/../sets/coin.png", "path_climbs"),
        ("sets\\..\\..\\secret.png", "path_climbs"),
        ("./sets/coin.png", "unsafe_path"),
        ("sets//coin.png", "unsafe_path"),
        ("sets/", "unsafe_path"),
        ("sets", "file_irregular"),
        ("sets/coin.png/x", "file_missing"),
        ("Sets/coin.png", "file_missing"),
        ("~/coin.png", "file_missing"),
        ("$HOME/coin.png", "file_missing"),
        ("%2e%2e/secret.png", "file_missing"),
        ("/etc/passwd", "outside_roots"),
        ("/", "outside_roots"),
        ("//server/share/coin.png", "outside_roots"),
        ("\\\\server\\share\\coin.png", "outside_roots"),
        ("\\\\?\\C:\\coin.png", "outside_roots"),
        ("\\coin.png", "outside_roots"),
        ("C:\\art\\coin.png", "outside_roots"),
        ("C:/art/coin.png", "outside_roots"),
        ("c:coin.png", "outside_roots"),
        ("file:///etc/passwd", "unsafe_path"),
        ("https://example.com/coin.png", "unsafe_path"),
        ("", "unsafe_path"),
    ],
)
def test_ways_out(files, value, code):
    """Each is refused by its words or because nothing of that exact name is there."""
    assert f"ticket.{code}" == code_of(files, value)


def test_absolute_beside_a_root(files, tmp_path):
    """A root is a folder, not a prefix of text; climbing out of it is climbing."""
    (tmp_path / "one-more").mkdir()
    (tmp_path / "one-more" / "coin.png").write_bytes(b"x")
    assert "ticket.outside_roots" == code_of(files, (tmp_path / "one-more/coin.png").as_posix())
    assert "ticket.path_climbs" == code_of(files, (tmp_path / "one").as_posix() + "/../secret.png")


def test_ambiguous(files, tmp_path):
    """The same relative path under two roots is nobody's guess."""
    (tmp_path / "one" / "gem.png").write_bytes(b"y")
    assert "ticket.file_ambiguous" == code_of(files, "gem.png")


def test_no_roots(files):
    """Without a root only attachments are read."""
    alone = TicketFiles(files.attachments)
    assert ["ticket.outside_roots", None] == [
        code_of(alone, v) for v in ("sets/coin.png", "attachment:coin.png")
    ]


def test_missing_folders(tmp_path):
    """Folders that are not there hold nothing."""
    files = TicketFiles(tmp_path / "a", (tmp_path / "b",))
    assert ["ticket.file_missing"] * 2 == [code_of(files, value) for value in ("attachment:x.png", "x.png")]


def test_an_attachment_named_as_a_path(tmp_path):
    """What lies beside the issue under just this name is told how to be named."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "coin.png").write_bytes(b"x")
    with pytest.raises(InvalidDocument) as caught:
        TicketFiles(tmp_path / "a", (tmp_path / "b",)).resolve("coin.png")
    assert ("ticket.file_missing", True) == (
        caught.value.code,
        "Write attachment:coin.png" in str(caught.value),
    )


def test_unicode_forms(tmp_path):
    """A name is the same name in either Unicode form; both at once are ambiguous."""
    composed, decomposed = (unicodedata.normalize(form, "caf\u00e9.png") for form in ("NFC", "NFD"))
    files = TicketFiles(tmp_path)
    (tmp_path / decomposed).write_bytes(b"x")
    assert None is code_of(files, f"attachment:{composed}")
    (tmp_path / composed).write_bytes(b"x")
    if len(list(tmp_path.iterdir())) > 1:
        assert None is code_of(files, f"attachment:{composed}")


@links
def test_links(files, tmp_path):
    """A link out of its root, into nothing or into itself is refused; one that stays inside is read."""
    one = tmp_path / "one"
    (one / "out.png").symlink_to(tmp_path / "secret.png")
    (one / "sibling.png").symlink_to(tmp_path / "two" / "gem.png")
    (one / "folder").symlink_to(tmp_path, target_is_directory=True)
    (one / "dangling.png").symlink_to(tmp_path / "nothing.png")
    (one / "circle.png").symlink_to(one / "circle.png")
    (one / "inside.png").symlink_to(one / "sets" / "coin.png")
    values = ("out.png", "sibling.png", "folder/secret.png", "dangling.png", "circle.png")
    assert ["ticket.link_leaves_root"] * 5 == [code_of(files, value) for value in values]
    assert (one / "sets" / "coin.png").resolve() == files.resolve("inside.png")


@links
def test_linked_attachments(files, tmp_path):
    """Neither an attachment nor the whole folder may be a link to another issue's."""
    files.attachments.joinpath("link.png").symlink_to(tmp_path / "inbox/OFFER-2/other.png")
    assert "ticket.link_leaves_root" == code_of(files, "attachment:link.png")
    folder = tmp_path / "inbox" / "OFFER-3"
    folder.symlink_to(tmp_path / "inbox" / "OFFER-2", target_is_directory=True)
    assert "ticket.link_leaves_root" == code_of(TicketFiles(folder), "attachment:other.png")


@links
def test_linked_root(files, tmp_path):
    """A root may itself be reached through a link: it is the configuration's, not the ticket's."""
    (tmp_path / "alias").symlink_to(tmp_path / "one", target_is_directory=True)
    linked = TicketFiles(files.attachments, (tmp_path / "alias",))
    for value in (
        "sets/coin.png",
        f"{tmp_path.as_posix()}/alias/sets/coin.png",
        f"{tmp_path.as_posix()}/one/sets/coin.png",
    ):
        assert None is code_of(linked, value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_device(files):
    """What is no regular file is refused without being opened."""
    os.mkfifo(files.attachments / "pipe.png")
    assert "ticket.file_irregular" == code_of(files, "attachment:pipe.png")
