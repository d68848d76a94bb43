"""Command templates: whatever a value is, it is one argument, or a part of one."""

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.core.space import Boolean, Categorical, Integer, Real, Space
from paramhs.execution.targets.command import Native, Style, Template
from paramhs.execution.targets.command.template import style_of
from tests.support.keepers import PYTHON, Kept
from tests.support.spaces import spaces_with_config

ECHO = "import json, os, sys; print(json.dumps([os.fsencode(a).hex() for a in sys.argv[1:]]))"

NASTY = [
    "",
    " ",
    "a b",
    "'",
    '"',
    "$(rm -rf x)",
    "`id`",
    "a\nb",
    "-x",
    "--",
    "*",
    "{seed}",
    "ü€😀",
    "\\",
]

TEXTS = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20
)

OWN = {
    "instance": "a.cnf",
    "seed": "7",
    "cutoff": "5.0",
    "info": "0",
    "config_id": "1",
    "instance_id": "2",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    kept = Kept(str(tmp_path_factory.mktemp("here")), "template")
    yield kept
    kept.supervised.close()


def arguments(kept: Kept, words: tuple[str, ...]) -> list[str]:
    """What a real program finds in its argument vector."""
    outcome = kept.start(*PYTHON, ECHO, *words)
    assert outcome.code == 0, outcome
    return [bytes.fromhex(word).decode() for word in json.loads(outcome.output)]


def words(command, space, style=None, own=OWN, **values) -> tuple[str, ...]:
    template = Template(command, space, style or Style())
    return template.filled(space.config(**values), own)


def one(parameter) -> Space:
    return Space({"x": parameter})


# Values.


@given(text=TEXTS, instance=TEXTS)
def test_any_text_arrives_as_one_argument(kept, text, instance):
    space = one(Categorical(["default", text] if text != "default" else [text]))
    own = {**OWN, "instance": instance}
    command = "{x} --x={x} {instance} 'two words' {params}"
    style = Style(switches={"x": "-x "})
    filled = Template(command, space, style).filled(space.config(x=text), own)
    assert arguments(kept, filled) == [text, f"--x={text}", instance, "two words"]
    listed = Template("{params}", space, style).filled(space.config(x=text), own)
    assert arguments(kept, listed) == ["-x", text]


@given(text=TEXTS, example=st.sampled_from(["-name value", "--name=value", "-name=value"]))
def test_any_text_is_one_argument_in_every_style(kept, text, example):
    space = one(Categorical(["default", text] if text != "default" else [text]))
    filled = words("{params}", space, Style(example), x=text)
    expected = {
        "-name value": ["-x", text],
        "--name=value": [f"--x={text}"],
        "-name=value": [f"-x={text}"],
    }
    assert arguments(kept, filled) == expected[example]


@given(spaces_with_config())
def test_params_are_the_active_parameters_in_their_order(given):
    space, config = given
    style = Style("--name=value", ("1", "0"))
    filled = Template("prog {params} end", space, style).filled(config, OWN)
    texts = [f"--{name}={style.value(config[name])}" for name in space.parameters if name in config]
    assert filled == ("prog", *texts, "end")


@given(spaces_with_config())
def test_numbers_are_written_so_that_they_can_be_read_again(given):
    space, config = given
    numeric = [name for name in config if space.parameters[name].numeric]
    for name in numeric:
        assert float(Style().value(config[name])) == config[name]


@given(spaces_with_config())
def test_a_command_that_names_all_parameters_leaves_out_the_inactive(given):
    space, config = given
    command = ["prog", *(f"--{name}={{{name}}}" for name in space.parameters)]
    style = Style(booleans=("yes", "no"))
    filled = Template(command, space, style).filled(config, OWN)
    active = [name for name in space.parameters if name in config]
    assert filled == ("prog", *(f"--{name}={style.value(config[name])}" for name in active))


def test_values_of_every_kind():
    space = Space(
        {"i": Integer(1, 5), "r": Real(0.1, 0.5, 5), "b": Boolean(default=False), "c": ["u", "v"]}
    )
    filled = words("p {i} {r} {b} {c}", space, i=3, r=0.2, b=True, c="v")
    assert filled == ("p", "3", "0.2", "true", "v")
    assert words("p {b} {i}{r}{c}", space, b=False, i=3, r=0.1, c="u") == ("p", "false", "30.1u")


def test_what_is_known_of_the_run_has_placeholders():
    space = one(range(3))
    command = "p {instance} {seed} {cutoff} {info} {config_id} {instance_id} {x}"
    assert words(command, space, x=1) == ("p", "a.cnf", "7", "5.0", "0", "1", "2", "1")
    assert Template(command, space, Style()).uses == set(OWN)
    assert Template("p {params}", space, Style()).uses == set()


def test_a_value_that_looks_like_a_placeholder_is_left_alone():
    space = one(Categorical(["{seed}", "{params}"]))
    assert words("p {x} -{x}", space, x="{params}") == ("p", "{params}", "-{params}")
    assert words("p {instance} {x}", space, own={**OWN, "instance": "{x}"}, x="{seed}") == (
        "p",
        "{x}",
        "{seed}",
    )


# Splitting.


def test_a_command_is_split_as_a_shell_would_split_it():
    space = one(range(3))
    assert words("p 'a b' \"c d\" e\\ f '' {x}", space, x=0) == ("p", "a b", "c d", "e f", "", "0")


def test_a_list_of_words_is_not_split():
    space = one(range(3))
    assert words(["my prog", "a 'b", "-x {x}"], space, x=0) == ("my prog", "a 'b", "-x 0")


def test_a_shell_is_nowhere():
    space = one(range(3))
    assert words("p $HOME | cat > {x}; ls &", space, x=0) == (
        "p",
        "$HOME",
        "|",
        "cat",
        ">",
        "0;",
        "ls",
        "&",
    )


def test_doubled_braces_mean_themselves():
    space = one(range(3))
    assert words("awk '{{print {x}}}' {{{x}}} {{x}}", space, x=0) == (
        "awk",
        "{print 0}",
        "{0}",
        "{x}",
    )


def test_the_text_of_a_command_is_as_it_was_written():
    space = one(range(3))
    assert Template("p  'a b' {x}", space, Style()).text == "p  'a b' {x}"
    listed = Template(["p", "a b", "{x}"], space, Style())
    assert shlex.split(listed.text) == ["p", "a b", "{x}"]


# Inactive parameters.

TWO = Space(
    {"mode": ["plain", "rich"], "rho": Integer(1, 9), "tau": Integer(1, 9)},
    conditions={"rho": "mode in {rich}", "tau": "mode in {rich}"},
)


@pytest.mark.parametrize(
    ("command", "active", "inactive"),
    [
        ("p {mode} -r {rho} -t {tau} z", "p rich -r 5 -t 5 z", "p plain z"),
        ("p {mode} --r={rho} --t={tau} z", "p rich --r=5 --t=5 z", "p plain z"),
        ("p {mode} r{rho}t{tau} z", "p rich r5t5 z", "p plain z"),
        ("p {mode} file {rho} {tau}", "p rich file 5 5", "p plain file"),
        ("p {mode} -1 {rho} {tau}", "p rich -1 5 5", "p plain -1"),
        ("p {mode} - {rho} {tau}", "p rich - 5 5", "p plain -"),
        ("p {params} z", "p -mode rich -rho 5 -tau 5 z", "p -mode plain z"),
        ("p {mode} -v -w {rho} {tau} z", "p rich -v -w 5 5 z", "p plain -v z"),
        ("p -m{mode} {rho} {tau} z", "p -mrich 5 5 z", "p -mplain z"),
    ],
)
def test_inactive_parameters_are_left_out_with_their_options(command, active, inactive):
    assert " ".join(words(command, TWO, mode="rich")) == active
    assert " ".join(words(command, TWO, mode="plain")) == inactive


def test_the_value_of_another_parameter_is_not_taken_for_an_option():
    space = Space(
        {"mode": Categorical(["-fast", "-slow"]), "rho": Integer(1, 9)},
        conditions={"rho": "mode in {'-slow'}"},
    )
    assert words("p {mode} {rho}", space, mode="-fast") == ("p", "-fast")


def test_a_flag_among_the_params_is_not_taken_for_an_option():
    space = Space(
        {"turbo": Boolean(default=False), "rho": Integer(1, 9)},
        conditions={"rho": "turbo == false"},
    )
    assert words("p {params} {rho}", space, turbo=True) == ("p", "-turbo")


# Styles.

FLAGS = Space({"turbo": Boolean(default=False), "k": Integer(1, 9)})


@pytest.mark.parametrize(
    ("style", "on", "off"),
    [
        (Style(), "-turbo -k 5", "-k 5"),
        (Style("--name=value"), "--turbo --k=5", "--k=5"),
        (Style("--name value"), "--turbo --k 5", "--k 5"),
        (Style("-P name=value"), "-P turbo -P k=5", "-P k=5"),
        (Style("name=value", ("--name", "--no-name")), "--turbo k=5", "--no-turbo k=5"),
        (Style("-name value", ("1", "0")), "-turbo 1 -k 5", "-turbo 0 -k 5"),
        (Style("--name=value", ("yes", "no")), "--turbo=yes --k=5", "--turbo=no --k=5"),
        (Style(switches={"k": "-kk "}), "-turbo -kk 5", "-kk 5"),
        (Style(switches={"k": "-k="}), "-turbo -k=5", "-k=5"),
        (Style(switches={"k": ""}), "-turbo 5", "5"),
        (Style(switches={"turbo": "--fast"}), "--fast -k 5", "-k 5"),
        (Style(switches={"turbo": "--fast "}), "--fast -k 5", "-k 5"),
        (Style("-name value", ("1", "0"), {"turbo": "-t"}), "-t1 -k 5", "-t0 -k 5"),
    ],
)
def test_how_params_are_written(style, on, off):
    assert " ".join(words("{params}", FLAGS, style, turbo=True)) == on
    assert " ".join(words("{params}", FLAGS, style, turbo=False)) == off


def test_names_that_look_like_the_words_of_a_style_are_left_alone():
    space = Space({"name": Categorical(["value", "name"]), "value": Boolean(default=False)})
    filled = words("{params}", space, Style("--name=value"), name="value", value=True)
    assert filled == ("--name=value", "--value")


def test_a_boolean_in_a_word_is_written_as_the_style_says():
    assert words("p {turbo} {k}", FLAGS, turbo=True)[1] == "true"
    assert words("p {turbo} {k}", FLAGS, Style(booleans=("on", "off")), turbo=True)[1] == "on"
    flags = Style(booleans=("--name", "--no-name"))
    assert words("p {turbo} {k}", FLAGS, flags, turbo=False)[1] == "--no-turbo"
    assert words("p {turbo} {k}", FLAGS, flags, turbo=True)[1] == "--turbo"


def test_a_flag_within_a_word_is_refused():
    flags = Style(booleans=("--name", "--no-name"))
    with pytest.raises(BadInput, match=r"'--turbo=\{turbo\}': booleans are flags here"):
        Template("p --turbo={turbo} {k}", FLAGS, flags)
    assert words("p --seed={seed} -k{k} {turbo}", FLAGS, flags, turbo=True, k=3)[1:] == (
        *("--seed=7", "-k3", "--turbo"),
    )


def test_a_parameter_that_drives_a_condition_need_not_be_in_the_command():
    space = Space({"mode": ["a", "b"], "k": range(3)}, conditions={"k": "mode == b"})
    assert words("p -k {k}", space, mode="b", k=2) == ("p", "-k", "2")
    assert words("p -k {k}", space, mode="a") == ("p",)
    with pytest.raises(BadInput, match="does not mention k"):
        Template("p {mode}", space, Style())


def test_parameters_that_are_named_are_not_listed_again():
    assert words("p -k{k} {params}", FLAGS, turbo=True, k=3) == ("p", "-k3", "-turbo")


def test_changed_writes_only_what_differs_from_the_default():
    assert words("p {changed}", FLAGS, turbo=False, k=FLAGS.parameters["k"].default) == ("p",)
    assert words("p {changed} {instance}", FLAGS, turbo=True)[1] == "-turbo"
    with pytest.raises(BadInput, match="give one of them"):
        Template("p {params} {changed}", FLAGS, Style())


def test_selectors_are_written_only_where_they_are_named():
    space = Space({"mode": ["a", "b"], "k": range(3)}, conditions={"k": "mode == b"})
    style = Style(selectors=("mode",))
    assert words("p {params}", space, style, mode="b", k=2) == ("p", "-k", "2")
    assert words("p {mode} {params}", space, style, mode="b", k=2) == ("p", "b", "-k", "2")
    with pytest.raises(BadInput, match="selectors: no parameter is called 'other'"):
        Template("p {params}", space, Style(selectors=("other",)))


@pytest.mark.parametrize(
    ("value", "written"), [(1e-05, "0.00001"), (1e16, "10000000000000000"), (0.5, "0.5")]
)
def test_numbers_are_written_without_an_exponent_where_that_is_asked_for(value, written):
    assert Style(decimal=True).value(value) == written


def test_a_style_is_rebuilt_from_its_repr():
    for style in (Style(), Style("--name=value", ("1", "0"), {"a": "-a "}, True, ("mode",))):
        assert style_of(repr(style)) == style
    assert repr(Style()) == "Style(example='-name value', booleans=None, switches=None)"


# Bad input.


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "the command is empty"),
        ([], "the command is empty"),
        (
            "p 'a",
            'the command "p \'a" cannot be split into words: No closing quotation',
        ),
        (
            "p {k}",
            "the command does not mention turbo: write {turbo} where its value belongs, {params}"
            " for all that are not named, or {changed} for those of them that differ from their"
            " defaults",
        ),
        (
            "p {params} {nothing}",
            "'{nothing}': unknown placeholder {nothing}; expected {instance}, {seed}, {cutoff},"
            " {params}, {changed} or a parameter",
        ),
        (
            "p -a={params}",
            "'-a={params}': {params} must be a separate word, because it expands to several",
        ),
        ("p {params} a{b", "'a{b': a single '{'; double it for a literal one"),
        ("p {params} a}b", "'a}b': a single '}'; double it for a literal one"),
    ],
)
def test_a_command_that_makes_no_sense(command, message):
    with pytest.raises(BadInput) as caught:
        Template(command, FLAGS, Style())
    assert str(caught.value) == message


def test_many_parameters_that_are_not_named_are_not_all_listed():
    space = Space({f"p{i}": range(3) for i in range(9)})
    with pytest.raises(BadInput, match=r"does not mention p1, p2, p3, p4, p5, \.\.\.: write {p1}"):
        Template("p {p0}", space, Style())


def test_a_style_without_its_words():
    with pytest.raises(
        BadInput, match="'--x=y' is not a style; expected an example with the words"
    ):
        Style("--x=y")


def test_nothing_for_false_is_refused_where_true_is_the_default():
    space = Space({"turbo": Boolean(default=True)})
    with pytest.raises(BadInput, match="turbo is true by default, so an empty text for false"):
        Template("p {params}", space, Style())
    assert words("p {turbo}", space, turbo=False) == ("p", "false")
    assert words("p {params}", space, Style(booleans=("--name", "--no-name")), turbo=False) == (
        "p",
        "--no-turbo",
    )


@pytest.mark.parametrize("values", [[True, False], [True, False, "auto"], ["auto", False, True]])
def test_nothing_for_false_is_refused_in_lists_too(values):
    space = Space({"turbo": Categorical(values)})
    with pytest.raises(BadInput, match=r"turbo is (true|auto) by default, so an empty text"):
        Template("p {params}", space, Style())
    Template("p {params}", space, Style(booleans=("1", "0")))
    Template("p {params}", Space({"turbo": Categorical(values, default=False)}), Style())


def test_a_switch_alone_cannot_switch_off():
    space = Space({"r": Boolean(default=True)})
    flags = Style(booleans=("--name", "--no-name"), switches={"r": "-r "})
    with pytest.raises(BadInput, match=r'r is true by default.*"0"], and no switch'):
        Template("p {params}", space, flags)
    Template("p {params}", space, Style(booleans=("1", "0"), switches={"r": "-r "}))


@pytest.mark.parametrize("name", ["seed", "instance", "params"])
def test_a_parameter_that_is_named_as_a_placeholder_is_refused(name):
    space = Space({name: range(3), "k": range(3)})
    with pytest.raises(BadInput, match=name):
        Template(f"p --{name}={{{name}}} {{k}}", space, Style())


@pytest.mark.parametrize(
    ("native", "text"),
    [
        (Native(line="name = value"), "a = 3\nfast = 1"),
        (Native(line="CPXPARAM_name value"), "CPXPARAM_a 3\nCPXPARAM_fast 1"),
        (Native(command="solver {changed} {instance}"), "solver -a 3 -fast 1 INSTANCE"),
    ],
)
def test_a_configuration_is_written_as_the_programs_users_do(native, text):
    space = Space({"a": Integer(0, 9, default=1), "fast": Boolean(), "b": Integer(0, 9)})
    style = Style(booleans=("1", "0"))
    assert native.text(space.config({"a": 3, "fast": True}), style) == text


def test_where_nothing_differs_from_the_default_there_is_nothing_to_set():
    space = Space({"a": Integer(0, 9), "mode": Categorical(["x", "y"])})
    assert Native(line="name = value").text(space.default, Style()) == ""
    style = Style(selectors=("mode",))
    assert Native(line="name = value").text(space.config({"mode": "y"}), style) == ""


@pytest.mark.parametrize(
    ("line", "command", "problem"),
    [
        ("", "", "one of the two"),
        ("name = value", "solver {changed}", "one of the two"),
        ("x = value", "", "'x = value' is no example of a setting"),
    ],
)
def test_another_form_of_a_configuration_is_refused(line, command, problem):
    with pytest.raises(BadInput, match=problem):
        Native(line, command)
