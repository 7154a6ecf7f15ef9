"""From text to tickets, with the line of everything that is wrong."""
import json
import re
from datetime import datetime, timezone

PRIORITIES = ("urgent", "high", "normal", "low")
MAX_MESSAGES = 20
MAX_DAYS = 3660
WHITE_SPACE = re.compile(r"[ \t\r\n]*")


class BadInput(Exception):
    """The input cannot be used; `messages` say where and why, one a line."""

    def __init__(self, messages):
        super().__init__(messages[0])
        self.messages = messages


class Ticket:
    """One ticket, its times in UTC; `resolved_at` is None while it is open."""

    __slots__ = ("id", "subject", "category", "priority", "created_at", "resolved_at")

    def __init__(self, record):
        self.id = _text(record, "id")
        self.subject = _text(record, "subject")
        self.category = _text(record, "category")
        self.priority = _text(record, "priority")
        if self.priority not in PRIORITIES:
            raise ValueError(f"priority {self.priority!r} is none of {', '.join(PRIORITIES)}")
        self.created_at = _time(record, "created_at")
        self.resolved_at = None if record.get("resolved_at") is None else _time(record, "resolved_at")
        if self.resolved_at is not None and self.resolved_at < self.created_at:
            raise ValueError("resolved_at is before created_at")


def _text(record, field):
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{field} is missing, empty or not text")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{field} holds half of a surrogate pair")
    return value.strip()


def _time(record, field):
    value = _text(record, field)
    try:
        moment = datetime.fromisoformat(re.sub(r"Z$", "+00:00", value))
    except ValueError:
        raise ValueError(f"{field} {value!r} is not a time like 2026-01-05T09:30:00Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"{field} {value!r} has no time zone; add Z for UTC")
    try:
        return moment.astimezone(timezone.utc)
    except OverflowError:
        raise ValueError(f"{field} {value!r} is out of range") from None


def parse_tickets(text, source):
    """A JSON array of tickets, or one a line. Raises BadInput with all faults, up to MAX_MESSAGES."""
    tickets, messages, seen = [], [], {}
    for record, line in _records(text, source):
        try:
            if not isinstance(record, dict):
                raise ValueError("not an object")
            ticket = Ticket(record)
            if ticket.id in seen:
                raise ValueError(f"id {ticket.id!r} was used in line {seen[ticket.id]} already")
            seen[ticket.id] = line
            tickets.append(ticket)
        except ValueError as error:
            messages.append(f"{source}:{line}: ticket {len(tickets) + len(messages) + 1}: {error}")
    if len(messages) > MAX_MESSAGES:
        messages = messages[:MAX_MESSAGES] + [f"and {len(messages) - MAX_MESSAGES} more"]
    if messages:
        raise BadInput(messages)
    if not tickets:
        raise BadInput([f"{source}: no tickets in it"])
    created = [ticket.created_at for ticket in tickets]
    if (max(created) - min(created)).days > MAX_DAYS:
        raise BadInput([f"{source}: the tickets span more than {MAX_DAYS} days; analyse them in parts"])
    return tickets


def _records(text, source):
    """Each record with its line, decoded one by one, because the json module forgets where things were."""
    decoder = json.JSONDecoder()
    at = WHITE_SPACE.match(text, 0).end()
    in_array = text.startswith("[", at)
    at = WHITE_SPACE.match(text, at + 1).end() if in_array else at
    line, counted = 1, 0
    first = True
    while at < len(text) and not (in_array and first and text.startswith("]", at)):
        first = False
        try:
            record, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise BadInput([f"{source}:{error.lineno}:{error.colno}: not JSON: {error.msg}"]) from error
        except (RecursionError, ValueError) as error:
            raise BadInput([f"{_place(text, at, source)}: not usable JSON: {error}"]) from error
        line, counted = line + text.count("\n", counted, at), at
        yield record, line
        at = WHITE_SPACE.match(text, end).end()
        if in_array:
            if text.startswith("]", at):
                break
            at = _after_comma(text, at, source)
    if in_array:
        _expect_end(text, at, source)


def _after_comma(text, at, source):
    if not text.startswith(",", at):
        raise BadInput([f"{_place(text, at, source)}: not JSON: a comma or ] is expected after a ticket"])
    return WHITE_SPACE.match(text, at + 1).end()


def _expect_end(text, at, source):
    if not text.startswith("]", at):
        raise BadInput([f"{_place(text, at, source)}: not JSON: the list of tickets is not closed"])
    end = WHITE_SPACE.match(text, at + 1).end()
    if end < len(text):
        raise BadInput([f"{_place(text, end, source)}: not JSON: something follows the list of tickets"])


def _place(text, at, source):
    line_start = text.rfind("\n", 0, at) + 1
    return f"{source}:{text.count(chr(10), 0, at) + 1}:{at - line_start + 1}"
