"""What is read from the output of a run."""

import math
import os
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.execution.supervisor import Outcome
from paramhs.execution.supervisor.capture import Capture
from paramhs.execution.targets.command import (
    AclibLine,
    IraceLine,
    JsonLine,
    LastNumber,
    Nothing,
    Pattern,
    Sum,
    reader_of_costs,
)
from paramhs.execution.targets.command.readers import (
    NUMBER,
    Aborted,
    ByName,
    Reader,
    Reading,
    Unreadable,
    is_linear,
    read_streams,
    texts_of,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)

READERS: list[Reader] = [
    Nothing(),
    LastNumber(),
    Pattern("cost (.*)"),
    JsonLine("cost"),
    AclibLine(),
    IraceLine(),
    ByName((("cost", Pattern("cost (.*)")), ("nodes", LastNumber()))),
]


def unreadable(reader: Reader, output: str) -> str:
    with pytest.raises(Unreadable) as caught:
        reader.read(output)
    return str(caught.value)


@given(st.text())
@pytest.mark.parametrize("reader", READERS)
def test_any_output_is_read_or_unreadable(reader, output):
    with suppress(Unreadable):
        quality = reader.read(output).quality
        assert quality is None or not math.isnan(quality)


def test_output_that_is_no_text_is_read_as_well_as_it_can_be():
    assert texts_of(Outcome(output=b"\xff\xfe 12\n"))[0] == "\ufffd\ufffd 12\n"
    assert LastNumber().read(texts_of(Outcome(output=b"\xff\xfe 12\n"))[0]).quality == 12


# The last number.


@given(
    FINITE, st.sampled_from(["{}", "cost={}", "best: {} (optimal)", "1 2\n{}\n\ndone\n", "[{}]"])
)
def test_the_last_number_is_read_exactly(number, form):
    assert LastNumber().read(form.format(number)).quality == number


@pytest.mark.parametrize(
    ("output", "number"),
    [
        ("1 2 3", 3.0),
        ("The cost is 5.", 5.0),
        ("-1.5e-3", -0.0015),
        ("+.5", 0.5),
        ("5E3;", 5000.0),
        ("cost 7 after 12ms", 7.0),
        ("cost 7 of x2", 7.0),
        ("gap 3%", 3.0),
        ("inf", math.inf),
        ("12 -Infinity", -math.inf),
        ("3 information", 3.0),
        ("s SATISFIABLE 4", 4.0),
    ],
)
def test_what_is_a_number(output, number):
    assert LastNumber().read(output).quality == number


def test_no_number_at_all():
    assert unreadable(LastNumber(), "no answer x2 12ms") == "no number was printed"
    assert unreadable(LastNumber(), "") == "no number was printed"


def test_nan_is_never_a_quality():
    what = "nan is not a number and cannot be compared"
    assert unreadable(LastNumber(), "3 nan") == what
    assert unreadable(Pattern("cost (.*)"), "cost nan") == what
    assert unreadable(JsonLine("cost"), '{"cost": NaN}') == what
    assert unreadable(IraceLine(), "nan") == what


def test_the_note_on_output_left_out_is_not_read_as_a_number():
    capture = Capture(10)
    for _ in range(10):
        os.write(capture.theirs, b"no answer " * 5)
        capture.read()
    output = capture.close().decode()
    assert "left out" in output
    assert unreadable(LastNumber(), output) == "no number was printed"


def test_the_pattern_of_numbers_is_one_that_users_can_borrow():
    assert re.fullmatch(NUMBER, "-1.5e3", re.IGNORECASE)
    assert Pattern(rf"cost ({NUMBER})").read("cost 12e1 s").quality == 120


# A regular expression.


def test_a_pattern_reads_its_group_or_all_of_it():
    output = "cost 5\ncost 4\ntime 1.5 s\n"
    assert Pattern(r"cost (\d+)").read(output) == Reading(4.0)
    assert Pattern(r"\d+(?= s)").read(output) == Reading(5.0)
    assert Pattern(r"^cost (\d+)$", r"time (\S+)").read(output) == Reading(4.0, 1.5)
    assert Pattern(time=r"time (\S+)").read(output) == Reading(None, 1.5)


def test_a_pattern_that_does_not_match():
    assert unreadable(Pattern(r"cost (\d+)"), "x") == r"nothing in the output matches 'cost (\\d+)'"
    assert unreadable(Pattern(r"cost (\w+)"), "cost big") == "'big' is not a number"
    assert unreadable(Pattern(r"cost(\d+)?"), "cost") == "'' is not a number"


def test_a_pattern_that_is_none():
    with pytest.raises(BadInput, match=r"'\(' is not a regular expression: missing \)"):
        Pattern("(")
    with pytest.raises(BadInput, match="has 2 groups; expected one group"):
        Pattern(time=r"(\d+)\.(\d+)")
    assert Pattern(r"(?:a|b)=(\d)").read("b=3").quality == 3


# JSON.


@given(FINITE, FINITE)
def test_a_json_line_is_read_exactly(cost, seconds):
    message = f'{{"cost": {cost!r}, "at": {{"s": {abs(seconds)!r}}}}}'
    output = f'log {{"cost": 0}}\n{{"cost": 1}}\n {message}\nbye'
    assert JsonLine("cost", "at.s").read(output) == Reading(cost, abs(seconds))


def test_matches_of_a_sum_are_added():
    output = "c search_ticks: 10\nc probing_ticks:   5\nc seconds: 3\n"
    assert Sum(r"_ticks: +(\d+)").read(output) == Reading(15.0)
    with pytest.raises(Unreadable, match="nothing in the output matches"):
        Sum("flips: (.*)").read(output)
    with pytest.raises(BadInput, match="2 groups"):
        Sum("(a)(b)")


def test_a_json_line_that_is_missing_or_lacks_something():
    none = "no line of the output is a JSON object"
    assert unreadable(JsonLine("cost"), "cost 3\n[1]\n3\n") == none
    assert unreadable(JsonLine("cost"), '{"cost": 3') == none
    assert unreadable(JsonLine("cost"), '{"a": 3}') == "the JSON object has no 'cost'"
    assert unreadable(JsonLine("a.b"), '{"a": 3}') == "the JSON object has no 'a.b'"
    text = "'cost' in the JSON object is {}; expected a number"
    assert unreadable(JsonLine("cost"), '{"cost": "3"}') == text.format("'3'")
    assert unreadable(JsonLine("cost"), '{"cost": true}') == text.format("True")
    assert unreadable(JsonLine("cost"), '{"cost": null}') == text.format("None")


def test_a_broken_json_line_is_passed_over():
    assert JsonLine("cost").read('{"cost": 3}\n{"cost": 4').quality == 3.0


def test_a_json_number_or_line_that_is_too_large():
    assert unreadable(JsonLine("cost"), '{"cost": 1' + "0" * 400 + "}")
    assert unreadable(JsonLine("cost"), '{"a":' * 100_000)


# The answer line of ParamILS, SMAC and AClib.


@pytest.mark.parametrize(
    ("output", "reading"),
    [
        ("Result for ParamILS: SAT, 1.5, 100, 7, 42\n", Reading(7, 1.5, "ok", "sat")),
        ("x\nResult of this Algorithm Run: UNSAT, 2, -1, 0, 1\ny", Reading(0, 2, "ok", "unsat")),
        ("Result for SMAC: SUCCESS, 0.1, 0, 3.5, 9, more", Reading(3.5, 0.1, "ok", None)),
        ("Final Result for ParamILS: SATISFIABLE, 1, 2, 3, 4", Reading(3, 1, "ok", "sat")),
        ("result for smac: unsatisfiable,1,2,3", Reading(3, 1, "ok", "unsat")),
        ("Result for SMAC: TIMEOUT, 300, 0, 1e9, 4", Reading(1e9, 300, "timeout", "timeout")),
        ("Result for SMAC: CRASHED, 0, 0, 0, 4", Reading(0, 0, "crashed", None)),
        ("Result for ParamILS: WRONG ANSWER, 1, 0, 0, 4", Reading(0, 1, "wrong", None)),
        (
            "Result for SMAC: SAT, 1, 2, 3, 4\nResult for SMAC: SAT, 5, 6, 7, 8",
            Reading(7, 5, "ok", "sat"),
        ),
    ],
)
def test_the_answer_line_of_a_wrapper(output, reading):
    assert AclibLine().read(output) == reading


def test_an_answer_line_that_is_none():
    missing = 'no line "Result for ParamILS: ..." (or "... SMAC: ...") was printed'
    assert unreadable(AclibLine(), "Result: SAT") == missing
    few = "the result line has 2 columns; expected at least 4"
    assert unreadable(AclibLine(), "Result for SMAC: SAT, 1") == few
    status = "'MAYBE' is not a status of a result line"
    assert unreadable(AclibLine(), "Result for SMAC: MAYBE, 1, 2, 3, 4") == status
    number = "'x' is not a number"
    assert unreadable(AclibLine(), "Result for SMAC: SAT, x, 2, 3, 4") == number


@pytest.mark.parametrize(
    ("line", "reading"),
    [
        ('{"status": "SUCCESS", "cost": 2.0, "runtime": 5}', Reading(2.0, 5.0, "ok")),
        ('{"status": "UNSAT", "runtime": 5, "misc": ""}', Reading(5.0, 5.0, "ok", "unsat")),
        ('{"status": "TIMEOUT", "cost": 9, "runtime": 5}', Reading(9.0, 5.0, "timeout", "timeout")),
    ],
)
def test_the_answer_line_of_aclib_2(line, reading):
    assert AclibLine().read(f"noise\nResult of this algorithm run: {line}\n") == reading


@pytest.mark.parametrize(
    "line",
    [
        *('{"status": "SUCCESS"}', '{"status": "SUCCESS", "runtime": [1]}', "{", "{}"),
        *('{"status": "SUCCESS", "runtime": ' + "9" * 5000 + "}", "{[" * 10**5),
        '{"status": 3, "runtime": 1}',
    ],
)
def test_an_answer_line_that_is_none_of_aclib_2(line):
    assert unreadable(AclibLine(), f"Result of this algorithm run: {line}\n")


def test_abort_is_more_than_a_failure():
    with pytest.raises(Aborted, match="the target reported ABORT: ABORT, 0, 0, 0, 4"):
        AclibLine().read("Result for ParamILS: ABORT, 0, 0, 0, 4")


# irace's target runner.


def test_the_last_line_of_a_target_runner():
    assert IraceLine().read("log\n12.5\n\n") == Reading(12.5)
    assert IraceLine().read("12.5 3") == Reading(12.5, 3.0)
    assert IraceLine(cost_is_time=True).read("12.5") == Reading(12.5, 12.5)
    assert IraceLine().read("Inf").quality == math.inf
    assert IraceLine().read("1e3\r\n").quality == 1000


def test_a_last_line_that_is_no_cost():
    what = "the last line should be a cost, or a cost and a time, not "
    assert unreadable(IraceLine(), "") == what + "nothing"
    assert unreadable(IraceLine(), "3\nall is well") == what + "'all is well'"
    assert unreadable(IraceLine(), "3\ndone") == "'done' is not a number"


@pytest.mark.parametrize("text", ["time 12.75s", "3.5ms", "1.5e3x", "v1.2.3"])
def test_part_of_a_word_is_no_number(text):
    with pytest.raises(Unreadable):
        LastNumber().read(text)


@pytest.mark.parametrize(
    ("reader", "believed"),
    [(Nothing(), False), (LastNumber(), False), (Pattern("x"), False), (Pattern(None, "t"), True),
     (JsonLine("cost"), False), (JsonLine("cost", "time"), True), (AclibLine(), True),
     (IraceLine(), False), (IraceLine(cost_is_time=True), True)],
)  # fmt: skip
def test_reader_says_whether_it_believes_a_time(reader, believed):
    assert reader.believed is believed


# Outputs that are long: what is quadratic in a million characters takes hours.

LONG = 1_000_000


@pytest.mark.parametrize(
    "output",
    [
        "1" * LONG + "x",
        "1." * (LONG // 2) + "x",
        "." + "1" * LONG + "x",
        "1e" + "1" * LONG + "x",
        "-" * LONG,
        "1 " * (LONG // 2) + "x",
        "\n" * LONG,
        "{" * LONG,
        "{\n" * (LONG // 2),
        '{"a":' * (LONG // 5),
        "s SATISFIABLE" + " " * LONG + "x",
        "s SATISFIABLE\n" * (LONG // 14) + "x",
        "Result for SMAC: " * (LONG // 17),
        "Result for SMAC: " + "," * LONG,
        "Result for SMAC: SAT" + " " * LONG + "x",
        "cost " * (LONG // 5),
        " " * LONG + "\n" + " " * LONG,
    ],
    ids=lambda output: output[:12],
)
@pytest.mark.parametrize("reader", READERS)
def test_long_outputs_are_read_in_linear_time(reader, output):
    with suppress(Unreadable):
        reader.read(output)


@pytest.mark.parametrize(
    ("reader", "output"),
    [
        (IraceLine(), "a " * LONG),
        (IraceLine(), "a" * LONG),
        (AclibLine(), f"Result for SMAC: {'x' * LONG}, 1, 2, 3"),
        (AclibLine(), f"Result for SMAC: SAT, {'x' * LONG}, 2, 3"),
        (JsonLine("cost"), f'{{"cost": "{"x" * LONG}"}}'),
        (JsonLine("cost"), f'{{"cost": [{"1, " * LONG}1]}}'),
        (Pattern("cost (.*)"), "cost " + "x" * LONG),
        (Pattern("cost (.*)"), "cost " + "\x00" * LONG),
    ],
)
def test_a_message_does_not_hold_the_whole_output(reader, output):
    assert len(unreadable(reader, output)) < 200


def test_a_reason_to_abort_is_bounded():
    with pytest.raises(Aborted) as caught:
        AclibLine().read(f"Result for SMAC: ABORT, 1, 2, 3, {'x' * LONG}")
    assert len(str(caught.value)) < 2_000


def test_a_number_of_a_million_digits_is_a_number():
    assert LastNumber().read("0." + "1" * LONG).quality == pytest.approx(1 / 9)
    assert LastNumber().read("1" * LONG).quality == math.inf


@given(st.text(alphabet="0123456789.eE+-x \n", max_size=12))
def test_possessive_numbers_are_the_same_numbers(output):
    plain = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:inf(?:inity)?|nan)\b"
    slow = re.findall(rf"(?<![\w.])(?:{plain})(?!\w|\.\d)", output, re.IGNORECASE)
    fast = re.findall(rf"(?<![\w.])(?:{NUMBER})(?!\w|\.\d)", output, re.IGNORECASE)
    assert fast == slow


def test_lines_may_end_with_a_carriage_return():
    assert IraceLine().read("10 %\r50 %\r12.5\r\n").quality == 12.5


class TestSeveralNumbers:
    READER = ByName((("gap", Pattern("gap (.*)")), ("memory", JsonLine("kB"))))

    def test_each_is_found_on_its_own_stream(self):
        reading = read_streams(self.READER, "gap 0.5\n", '{"kB": 12}\n')
        assert (reading.quality, reading.others, reading.problem) == (0.5, (12.0,), "")
        assert reading.stream == "standard error"

    def test_the_missing_one_is_named_and_none_is_used(self):
        reading = read_streams(self.READER, "gap 0.5\n", "")
        assert (reading.quality, reading.others) == (None, ())
        assert reading.problem == "memory: no line of the output is a JSON object"

    def test_a_believed_time_of_any_reader_counts(self):
        reader = ByName((("gap", Pattern("gap (.*)")), ("nodes", Pattern("n (.*)", "t (.*)"))))
        assert reader.believed
        assert read_streams(reader, "gap 1\nn 2\nt 0.25", "").time == 0.25

    def test_it_is_linear_if_all_its_readers_are(self):
        assert is_linear(ByName((("a", LastNumber()), ("b", JsonLine("b")))))
        assert not is_linear(self.READER)

    def test_the_order_is_that_of_the_costs(self):
        readers = {"b": JsonLine("b"), "a": LastNumber()}
        assert reader_of_costs(readers, ("a", "b")).readers == (
            ("a", LastNumber()),
            ("b", JsonLine("b")),
        )

    @pytest.mark.parametrize(
        ("read", "names", "says"),
        [
            (LastNumber(), ("a", "b"), r"say where each is, as in read = {a = \.\.\., b = \.\.\.}"),
            ({"a": LastNumber()}, ("a", "b"), "no entry for the cost 'b'"),
            ({"a": LastNumber(), "c": LastNumber()}, ("a",), "an entry for 'c', but the costs"),
            ({"a": LastNumber()}, (), "an entry for 'a', but there is one"),
        ],
    )
    def test_costs_and_readers_that_do_not_agree_are_refused(self, read, names, says):
        with pytest.raises(BadInput, match=says):
            reader_of_costs(read, names)
