"""File, environment and flag accept the same values for every configuration key, with increasing
priority; and each refuses what the others refuse."""

import os
import re
import subprocess
import tempfile

import harness


def load(file=None, variables=(), flags=()):
    """Returns (exit code, effective values, error message)."""
    arguments = list(flags)
    if file is not None:
        handle = tempfile.NamedTemporaryFile("w", suffix=".ini")
        handle.write(file)
        handle.flush()
        arguments = ["--config", handle.name, *arguments]
    done = subprocess.run(
        [harness.BINARY, *arguments, "--print-config"], capture_output=True, text=True,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("APSPD_")}, **dict(variables)},
    )
    return done.returncode, values_of(done.stdout), done.stderr


def values_of(text):
    """Returns {(section, key): value} of a commented file."""
    section, found = None, {}
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith(";"):
            key, value = line.split(" = ", 1)
            found[section, key] = value
    return found


def ranges():
    """Returns {(section, key): the description of its range}."""
    text = subprocess.run([harness.BINARY, "--print-config"], capture_output=True, text=True).stdout
    section, comment = None, []
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith("; "):
            comment.append(line[2:])
        elif line:
            words = " ".join(comment)
            comment = []
            if section is not None:
                yield section, line.split(" = ")[0], re.search(r"(?:Range|One of): (.*)\. Default", words)[1]


def values_for(words, default):
    """Returns two valid values, the first different from the default, and an invalid one."""
    if words.startswith("HOST:PORT"):
        return ["127.0.0.1:1", "[::1]:2", "nowhere"]
    if words.startswith("host names"):
        return ["one", "one, two.example", "one:80"]
    if "SCHEME://" in words:
        return ["https://one", "http://one:1 https://two", "https://one/"]
    if words.startswith("http[s]://HOST/PATH"):
        return ["https://one/{z}/{x}/{y}", "http://two:1/a?{x}{y}{z}", "https://one;two/{z}/{x}/{y}"]
    if "bytes of text" in words:
        return ["one", "two", " " + "x" * 300]
    span = re.fullmatch(r"(\d+) to (\d+)", words)
    if span is None:
        choices = [one for one in words.split(", ") if one != default]
        return [choices[0], [*choices, default][1], "nonsense"]
    low, high = map(int, span.groups())
    taken = [str(v) for v in (low, low + 1, low + 2) if str(v) != default]
    return [taken[0], taken[1], str(high + 1)]


def some(found):
    """Returns every seventh key in a slow build, in which each start takes long, and otherwise all
    keys; they share the same code."""
    return found[::7] if harness.QUICK else found


def names_of(section, key):
    return f"APSPD_{section}_{key}".upper(), f"--{section}.{key}"


def test_each_configuration_key_has_the_same_effect_in_every_source():
    code, defaults, _ = load()
    assert code == 0
    keys = {(section, key): values_for(words, defaults[section, key]) for section, key, words in ranges()}
    assert set(keys) == set(defaults) and len(keys) > 20, keys
    first, second = ({key: values[i] for key, values in keys.items()} for i in range(2))

    def variables(values):
        return [(names_of(*key)[0], value) for key, value in values.items()]

    def flags(values):
        return [word for key, value in values.items() for word in (names_of(*key)[1], value)]

    file = "".join(f"[{section}]\n{key} = {value}\n" for (section, key), value in first.items())
    for ways in ({"file": file}, {"variables": variables(first)}, {"flags": flags(first)},
                 {"flags": [f"{names_of(*key)[1]}={value}" for key, value in first.items()]}):
        assert load(**ways) == (0, first, ""), (ways, load(**ways))
    for ways in ({"file": file, "variables": variables(second)},
                 {"variables": variables(first), "flags": flags(second)},
                 {"file": file, "variables": variables(first), "flags": flags(second)}):
        assert load(**ways) == (0, second, ""), (ways, load(**ways))


def test_each_source_refuses_the_same_values():
    defaults = load()[1]
    for section, key, words in some(list(ranges())):
        variable, flag = names_of(section, key)
        wrong = values_for(words, defaults[section, key])[2]
        complaints = []
        for place, ways in ((":2", {"file": f"[{section}]\n{key} = {wrong}\n"}),
                            (variable, {"variables": [(variable, wrong)]}),
                            (flag, {"flags": [flag, wrong]})):
            code, _, complaint = load(**ways)
            assert code == 78 and f"{section}.{key} is" in complaint and place in complaint, (ways, complaint)
            complaints.append(complaint.split(f"{section}.{key} is")[1].split("; it")[1])
        assert len(set(complaints)) == 1 or "bytes of text" in words, complaints


def test_every_source_refuses_unknown_keys():
    for ways in ({"file": "[http]\nthread = 3\n"}, {"variables": [("APSPD_HTTP_THREAD", "3")]},
                 {"flags": ["--http.thread", "3"]}):
        code, _, complaint = load(**ways)
        assert code == 78 and "unknown" in complaint, (ways, complaint)


if __name__ == "__main__":
    harness.run(globals())
