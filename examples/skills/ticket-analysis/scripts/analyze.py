#!/usr/bin/env python3
"""Reads support tickets as JSON; writes report.json and chart.svg; prints a short summary as JSON.

See SKILL.md for the options, references/fields.md for the input, assets/output-schema.json for the report.
"""
import argparse
import json
import os
import sys
from pathlib import Path

from ticketlib.chart import render_chart
from ticketlib.read_tickets import PRIORITIES, BadInput, parse_tickets
from ticketlib.report import build_report

DEFAULT_SLA_HOURS = {"urgent": 4.0, "high": 8.0, "normal": 48.0, "low": 120.0}
INPUTS = Path("inputs")


def sla_target(text):
    priority, separator, hours = text.partition("=")
    if not separator or priority not in PRIORITIES:
        raise argparse.ArgumentTypeError(f"{text!r} is not PRIORITY=HOURS; priorities are {', '.join(PRIORITIES)}")
    try:
        value = float(hours)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{hours!r} is not a positive number of hours")
    return priority, value


def positive(text):
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100")
    return int(text)


def parse_options(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--input", metavar="PATH", help="read this file instead of standard input")
    parser.add_argument("--sla", metavar="PRIORITY=HOURS", type=sla_target, action="append", default=[],
                        help="time allowed until a ticket is resolved; repeatable")
    parser.add_argument("--keywords", metavar="N", type=positive, default=10, help="how many keywords to list")
    return parser.parse_args(argv)


def read_source(path):
    """The text and a name for it in messages."""
    if path is not None:
        return decode(Path(path).read_bytes(), path), path
    data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    if data.strip():
        return decode(data, "standard input"), "standard input"
    files = sorted(file for file in INPUTS.glob("*") if file.suffix in (".json", ".jsonl") and file.is_file())
    if len(files) == 1:
        return decode(files[0].read_bytes(), str(files[0])), str(files[0])
    found = "nothing" if not files else f"{len(files)} files"
    raise BadInput([f"no tickets: standard input is empty and {INPUTS}/ holds {found}; name a file with --input"])


def decode(data, source):
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput([f"{source}:{line}: not UTF-8 text"]) from error


def write_results(folder, report):
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
    (folder / "report.json").write_text(text, encoding="utf-8")
    (folder / "chart.svg").write_text(render_chart(report), encoding="utf-8")


def summary(report):
    rising = report["keywords"]["rising"]
    return {
        "period": [report["period"]["first_created_at"], report["period"]["last_created_at"]],
        "tickets": report["period"]["tickets"],
        "open": report["period"]["open"],
        "top_category": report["volumes"]["by_category"][0]["name"],
        "median_hours": report["resolution_hours"]["overall"]["p50"],
        "p90_hours": report["resolution_hours"]["overall"]["p90"],
        "sla_breaches": report["sla"]["breaches"],
        "sla_breach_rate": report["sla"]["breach_rate"],
        "rising_keywords": [entry["keyword"] for entry in rising[:3]],
        "files": ["report.json", "chart.svg"],
    }


def main(argv):
    options = parse_options(argv)
    try:
        text, source = read_source(options.input)
        tickets = parse_tickets(text, source)
        report = build_report(tickets, {**DEFAULT_SLA_HOURS, **dict(options.sla)}, options.keywords)
        write_results(Path(os.environ.get("OUTPUT_DIR", "/outputs")), report)
    except BadInput as error:
        for message in error.messages:
            print(f"analyze: {message}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"analyze: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    print(json.dumps(summary(report), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
