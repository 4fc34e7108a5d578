"""The container: byte-exact round trips, and one located error for anything broken."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from photoshop_builders import CORPUS, corpus_entries, deepen, is_broken

from fabric_dagster.errors import InvalidDocument
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits

GOOD = [entry["file"] for entry in corpus_entries() if not is_broken(entry)]
BROKEN = [entry["file"] for entry in corpus_entries() if is_broken(entry)]
RELAXED = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("name", GOOD)
def test_every_readable_file_comes_back_byte_for_byte(name):
    """Open and save changes nothing, padding and unknown tails included."""
    data = (CORPUS / name).read_bytes()
    assert data == parse(data).dump()


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_file_is_one_error_with_its_byte(name):
    """A damaged file is refused with one fault that names the place."""
    with pytest.raises(InvalidDocument) as caught:
        parse((CORPUS / name).read_bytes())
    (fault,) = caught.value.faults
    assert fault.code.startswith("psd.")
    assert fault.where.startswith("byte ")


def test_a_touched_document_writes_what_it_reads(template):
    """Writing records anew, not only copying them, gives the same layers."""
    container = parse(template)
    container.layer_info.touched = True
    assert template == container.dump()


def test_deep_documents_keep_their_layers_in_their_block(template):
    """A 16-bit document's layers are found in Lr16 and written back there."""
    deep = deepen(template)
    container = parse(deep)
    assert len(container.layer_info.layers) == len(parse(template).layer_info.layers)
    container.layer_info.touched = True
    assert deep == container.dump()


@RELAXED
@given(cut=st.floats(0, 1, exclude_max=True))
def test_any_cut_is_refused_with_its_place(template, cut):
    """No truncated file is taken for a whole one."""
    with pytest.raises(InvalidDocument) as caught:
        parse(template[: int(len(template) * cut)])
    assert "byte " in caught.value.faults[0].where


@RELAXED
@given(
    spots=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8)
)
def test_any_damage_ends_in_a_fault_or_a_faithful_container(template, spots):
    """Changed bytes either are refused, or are kept as they are."""
    data = bytearray(template)
    # Most structure sits in the first tenth and around the layer records.
    for spot, value in spots:
        data[int(len(data) * spot**3)] = value
    try:
        container = parse(bytes(data))
    except InvalidDocument as error:
        code = error.code
    else:
        code = "psd.whole"
        assert bytes(data) == container.dump()
    assert code.startswith("psd.")


@pytest.mark.parametrize(
    ("offset", "value", "code"),
    [
        (0, b"8BPX", "psd.not_a_psd"),
        (4, b"\0\3", "psd.bad_version"),
        (12, b"\0\0", "psd.bad_channels"),
        (12, b"\0\x39", "psd.bad_channels"),
        (14, b"\0\0\0\0", "psd.bad_dimensions"),
        (18, b"\0\0\x75\x31", "psd.bad_dimensions"),
        (22, b"\0\7", "psd.bad_depth"),
        (24, b"\0\5", "psd.bad_mode"),
    ],
)
def test_a_header_that_says_nonsense_is_refused_there(template, offset, value, code):
    """Each field of the header has its rule."""
    data = template[:offset] + value + template[offset + len(value) :]
    with pytest.raises(InvalidDocument) as caught:
        parse(data)
    assert code == caught.value.code


def test_groups_that_never_end_are_bounded(template):
    """Thousands of opened groups are refused, not recursed into."""
    container = parse(template)
    info = container.layer_info
    group = next(layer for layer in info.layers if layer.section == 1)
    info.layers += [group] * 100
    info.touched = True
    with pytest.raises(InvalidDocument) as caught:
        parse(container.dump())
    assert caught.value.code == "psd.nested_too_deep"


def test_limits_are_checked_before_anything_is_decoded(template):
    """Too many bytes, pixels or layers are refused by name."""
    for limits, code in (
        (Limits(file_bytes=100), "psd.too_large"),
        (Limits(pixels=1000), "psd.too_many_pixels"),
        (Limits(layers=3), "psd.too_many_layers"),
        (Limits(nesting=0), "psd.nested_too_deep"),
        (Limits(total_pixels=10_000), "psd.too_many_pixels"),
    ):
        with pytest.raises(InvalidDocument) as caught:
            parse(template, limits)
        assert code == caught.value.code
