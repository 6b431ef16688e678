"""Random tables as people write them. Each upload is read as intended, refused with line and
column, or accepted with a warning about the interpretation. APSPD_TEST_TABLES=300 tests 300 tables
of each type."""

import os
import random
import urllib.parse

import harness

COUNT = int(os.environ.get("APSPD_TEST_TABLES", 40))
ENDS = (("source", "target"), ("from", "to"), ("u", "v"), ("Source ID", "Target ID"), ("from_node", "to_node"),
        ("start", "end"), ("node1", "node2"), ("Origin", "Destination"), ("tail", "head"), ("src", "dst"))
OTHER_ENDS = (("a_node", "b_node"), ("stadt_a", "stadt_b"), ("left", "right"), ("departure", "arrival"),
              ("person", "friend"))
WEIGHTS = ("cost", "distance", "length", "dist", "value", "time", "duration", "Length (km)", "time_s", "w")
PLACES = ("Rome", "Lima", "New York", "Bern-Ost", "Sao Paulo", "K\u00f6ln", "Oslo", "St. Gallen")
EXTRAS = {
    "name": lambda random, row: random.choice(("Main St", "A 7", "", "Ring road", "O'Connell")),
    "id": lambda random, row: str(row + 1),
    "lanes": lambda random, row: str(random.randint(1, 4)),
    "highway": lambda random, row: random.choice(("primary", "track", "footway")),
    "surface": lambda random, row: random.choice(("asphalt", "")),
}


class Table:
    """Edges between towns: a table with a column for each endpoint, one for the weight, and further
    columns."""

    def __init__(self, random, weights=("weight",)):
        numbers = random.random() < 0.5
        places = [str(10 * i + 7) for i in range(8)] if numbers else list(PLACES)
        self.rows = []
        for row in range(random.randint(3, 9)):
            source, target = random.sample(places, 2)
            self.rows.append({"source": source, "target": target})
            for name in weights:
                self.rows[-1][name] = str(random.choice((random.randint(1, 5000), random.randint(1, 5000) / 4)))
        self.columns = ["source", "target", *weights]
        self.names = dict(zip(self.columns, self.columns))
        self.delimiter = random.choice(",;\t")

    def add(self, random, most=3):
        for name in random.sample(sorted(EXTRAS), random.randint(0, most)):
            self.columns.append(name)
            self.names[name] = name
            for number, row in enumerate(self.rows):
                row[name] = EXTRAS[name](random, number)

    def text(self, header=True):
        lines = [[self.names[column] for column in self.columns]] if header else []
        lines += [[row[column] for column in self.columns] for row in self.rows]
        return "".join(self.delimiter.join(self.quoted(field) for field in line) + "\n" for line in lines).encode()

    def quoted(self, field):
        return f'"{field}"' if self.delimiter in field or '"' in field else field

    def edges(self, weight="weight"):
        """Returns the edges; of parallel edges the least weight counts, as in every reader."""
        found = {}
        for row in self.rows:
            key, value = (row["source"], row["target"]), float(row[weight]) if weight else 1.0
            found[key] = min(value, found.get(key, value))
        return found


def upload(daemon, table, query="", **options):
    body = table.text(**options)
    answer = daemon.ask("POST", "/v1/graphs?format=edges&directed=true" + query, body=body)
    if answer.status == 422:
        return body, answer.json, None
    stored = answer.json
    assert answer.status in (200, 201), (body, stored)
    edges = daemon.get(f"/v1/graphs/{stored['id']}/edges").expect(200).json["edges"]
    return body, stored, {(str(source), str(target)): weight for source, target, weight in edges}


def expect_right(daemon, table, query="", weight="weight", **options):
    body, answer, edges = upload(daemon, table, query, **options)
    assert edges == table.edges(weight), (body.decode(), query, answer, edges)
    return answer


def expect_refused(daemon, table, row=None, query="", **options):
    """Checks that the table is refused. row: the index of the row with the expected error."""
    body, problem, edges = upload(daemon, table, query, **options)
    assert edges is None, (body.decode(), query, edges, problem)
    assert problem["code"] in ("BadGraph", "WeightRange") and problem.get("line", 0) > 0, (body.decode(), problem)
    assert problem.get("column", 0) > 0 and problem.get("hint"), (body.decode(), problem)
    if row is not None:
        assert problem["line"] == row + 2, (body.decode(), row, problem)
    return problem


def told(answer, *codes):
    return " ".join(w["detail"] for w in answer["warnings"] if w["code"] in codes)


def test_known_endpoint_columns_are_read_and_others_are_refused(daemon):
    for seed in range(COUNT):
        draw = random.Random(f"ends {seed}")
        table = Table(draw)
        is_known = seed % 3 > 0
        table.names["source"], table.names["target"] = draw.choice(ENDS if is_known else OTHER_ENDS)
        table.names["weight"] = draw.choice(("weight", "weight", *WEIGHTS))
        table.add(draw)
        draw.shuffle(table.columns)
        if is_known:
            expect_right(daemon, table)
            continue
        body, answer, edges = upload(daemon, table)
        if edges is None:
            assert answer.get("line", 0) == 1 and answer.get("column", 0) > 0, (body, answer)
            assert "source_column=" in answer["hint"], (body, answer)
        else:
            # The two endpoint columns may be in the other order.
            named = told(answer, "HeaderGuessed")
            assert all(table.names[end] in named for end in ("source", "target")), (body, answer)
            back = {(target, source): weight for (source, target), weight in table.edges().items()}
            assert edges in (table.edges(), back), (body, edges, answer)
        named = {"source_column": "source", "target_column": "target", "weight": "weight"}
        named = {parameter: table.names[column] for parameter, column in named.items()}
        expect_right(daemon, table, "&" + urllib.parse.urlencode(named))


MARKS = ("{} km", "{}km", "${}", "\u20ac{}", "{} \u20ac", "{}%", "{}:30", "{}'000", "~{}", "<{}", "0x{}", "{}_000",
         "USD {}", "{}h", "{} min", "{}/2", "approx. {}", "{},5", "1,{}00", "{}.000,5", "{},000.5", "1.{}.5")


def test_units_and_thousands_separators_are_refused(daemon):
    for seed in range(COUNT):
        draw = random.Random(f"units {seed}")
        table = Table(draw)
        table.names["source"], table.names["target"] = draw.choice(ENDS)
        table.names["weight"] = draw.choice(("weight", *WEIGHTS, "km", "fare", "how far"))
        table.add(draw)
        draw.shuffle(table.columns)
        mark = MARKS[seed % len(MARKS)]
        first = draw.randint(0, len(table.rows) - 1)
        for number, row in enumerate(table.rows):
            row["weight"] = row["weight"].replace(".", "" if mark == "{},5" else ".")
            if number == first or (number > first and draw.random() < 0.5):
                row["weight"] = mark.format(draw.randint(1, 99))
        is_comma = mark == "{},5"
        is_known = table.names["weight"] not in ("km", "fare", "how far")
        body, answer, edges = upload(daemon, table)
        if edges is not None:
            # A column of words whose header is not a known name for weights.
            assert not is_known and edges == table.edges(None), (body.decode(), edges, answer)
            assert table.names["weight"] in told(answer, "WeightsAbsent"), (body.decode(), answer)
            assert not any(row["weight"][0].isdigit() for row in table.rows), (body.decode(), answer)
        else:
            expect_refused(daemon, table, first if is_known else None)
        if is_comma:
            wanted = table.rows
            query = f"&decimal=,&weight={1 + table.columns.index('weight')}"
            body, answer, edges = upload(daemon, table, query)
            table.rows = [{**row, "weight": row["weight"].replace(",", ".")} for row in wanted]
            assert edges == table.edges(), (body.decode(), edges, answer)


MISSING = ("", " ", "n/a", "N/A", "NA", "NaN", "nan", "null", "NULL", "None", "-", "--", "inf", "?", ".", "#N/A", "missing")


def test_missing_values_are_refused_or_skipped(daemon):
    for seed in range(COUNT):
        draw = random.Random(f"missing {seed}")
        table = Table(draw)
        table.names["source"], table.names["target"] = draw.choice(ENDS)
        table.names["weight"] = draw.choice(("weight", *WEIGHTS))
        table.add(draw)
        draw.shuffle(table.columns)
        word = MISSING[seed % len(MISSING)]
        holes = sorted(draw.sample(range(len(table.rows)), draw.randint(1, len(table.rows))))
        column = draw.choice(("weight", "weight", "weight", "source", "target"))
        if column != "weight":
            word = ""
        for row in holes:
            table.rows[row][column] = word
        expect_refused(daemon, table, holes[0])
        if column == "weight" and not (word[:1] == "#" and table.columns[0] == "weight"):
            answer = expect_right(daemon, table, "&weight=none", None)
            assert not told(answer, "FormatGuessed"), answer


def test_the_error_for_two_weight_columns_lists_both(daemon):
    for seed in range(COUNT):
        draw = random.Random(f"weights {seed}")
        names = draw.sample(("weight", *WEIGHTS), 2)
        table = Table(draw, ("first", "second"))
        table.names["source"], table.names["target"] = draw.choice(ENDS)
        table.names["first"], table.names["second"] = names
        table.add(draw, 2)
        draw.shuffle(table.columns)
        if seed % 4 == 0:
            for row in table.rows:
                row["second"] = "0"
        if "weight" in names:
            weight = ("first", "second")[names.index("weight")]
            answer = expect_right(daemon, table, weight=weight)
            if answer["summary"]["max_weight"] > 0:
                assert names[1 - names.index("weight")] in told(answer, "ColumnsUnused"), answer
        else:
            problem = expect_refused(daemon, table)
            assert all(name in problem["detail"] for name in names), (table.text(), problem)
        for weight in ("first", "second"):
            expect_right(daemon, table, f"&weight={1 + table.columns.index(weight)}", weight)


def test_the_error_for_an_ambiguous_header_lists_the_choices(daemon):
    for seed in range(COUNT):
        draw = random.Random(f"headers {seed}")
        table = Table(draw, draw.choice((("weight",), ())))
        weight = "weight" if "weight" in table.columns else None
        has_header = seed % 3 > 0
        if draw.random() < 0.3:
            table.delimiter = "\t"
        if has_header:
            lines = (("A", "B", "C"), ("S", "T", "W"), ("1", "2", "3"), ("Rome", "Lima", "km"), ("7", "17", "weight"),
                     ("x", "y", "z"), ("City 1", "City 2", "2019"), ("person", "friend", "since"), ("id", "name", "km"),
                     ("column1", "column2", "column3"), ("0", "1", "2"), ("from city", "to city", "5"))
            table.names.update(zip(table.columns, draw.choice(lines)))
        body, answer, edges = upload(daemon, table, header=has_header)
        vertices = {row[end] for row in table.rows for end in ("source", "target")}
        if any(name.isdigit() or name in vertices for name in table.names.values()):
            # A line that has a number or a vertex of other edges is read as an edge if possible.
            table.rows.insert(0, table.names)
        if edges is None:
            assert answer.get("line", 0) > 0 and answer.get("column", 0) > 0 and answer["hint"], (body.decode(), answer)
        elif edges != table.edges(weight):
            assert told(answer, "HeaderGuessed", "FormatGuessed", "WeightsAbsent"), (body.decode(), edges, answer)


if __name__ == "__main__":
    harness.run(globals())
