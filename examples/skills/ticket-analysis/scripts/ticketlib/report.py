"""The numbers of the report. references/fields.md says how each is made."""
import re
from collections import Counter
from datetime import timedelta

from .read_tickets import PRIORITIES

WORD = re.compile(r"[^\W\d_]{3,}")
FILLERS = frozenset(
    "about after although another are back because been before but can cannot could did does done during else every "
    "few for from had has have her here his how into its just last made make more new not now off only our out over "
    "she should since that the their them then there they this those too twice until use using was were what when "
    "where which while who why will with without work works would wrong you your "
    "january february march april may june july august september october november december".split()
)
WORST = 10
# Fewer than this in the recent part is chance, not a trend.
RISING_AT_LEAST = 3


def build_report(tickets, sla_hours, keyword_count):
    moments = [ticket.created_at for ticket in tickets]
    as_of = max(moments + [ticket.resolved_at for ticket in tickets if ticket.resolved_at is not None])
    resolved = [ticket for ticket in tickets if ticket.resolved_at is not None]
    return {
        "version": 1,
        "period": {
            "first_created_at": _iso(min(moments)),
            "last_created_at": _iso(max(moments)),
            "as_of": _iso(as_of),
            "tickets": len(tickets),
            "resolved": len(resolved),
            "open": len(tickets) - len(resolved),
        },
        "volumes": {
            "by_category": _volumes(Counter(ticket.category for ticket in tickets)),
            "by_priority": _volumes(Counter(ticket.priority for ticket in tickets), PRIORITIES),
            "by_week": _weeks(tickets),
        },
        "resolution_hours": {
            "overall": _distribution(resolved),
            "by_priority": _grouped(resolved, "priority", PRIORITIES),
            "by_category": _grouped(resolved, "category", sorted({ticket.category for ticket in tickets})),
        },
        "sla": _sla(tickets, sla_hours, as_of),
        "keywords": _keywords(tickets, keyword_count),
    }


def _iso(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _hours(start, end):
    return (end - start).total_seconds() / 3600


def _volumes(counts, order=None):
    names = order or [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    total = sum(counts.values())
    return [{"name": name, "count": counts[name], "share": round(counts[name] / total, 4)} for name in names]


def _monday(moment):
    return moment.date() - timedelta(days=moment.weekday())


def _weeks(tickets):
    counts = Counter((_monday(ticket.created_at), ticket.priority) for ticket in tickets)
    mondays = [monday for monday, _ in counts]
    weeks, monday = [], min(mondays)
    while monday <= max(mondays):
        by_priority = {priority: counts[(monday, priority)] for priority in PRIORITIES}
        year, week, _ = monday.isocalendar()
        weeks.append({
            "week": f"{year}-W{week:02d}",
            "starts_on": monday.isoformat(),
            "count": sum(by_priority.values()),
            "by_priority": by_priority,
        })
        monday += timedelta(days=7)
    return weeks


def _grouped(tickets, field, names):
    return {name: _distribution([ticket for ticket in tickets if getattr(ticket, field) == name]) for name in names}


def _distribution(tickets):
    hours = sorted(_hours(ticket.created_at, ticket.resolved_at) for ticket in tickets)
    if not hours:
        return {"count": 0, "mean": None, "p50": None, "p90": None, "p95": None, "max": None}
    return {
        "count": len(hours),
        "mean": round(sum(hours) / len(hours), 2),
        "p50": _percentile(hours, 0.50),
        "p90": _percentile(hours, 0.90),
        "p95": _percentile(hours, 0.95),
        "max": round(hours[-1], 2),
    }


def _percentile(ordered, share):
    rank = share * (len(ordered) - 1)
    low = int(rank)
    high = min(low + 1, len(ordered) - 1)
    return round(ordered[low] + (ordered[high] - ordered[low]) * (rank - low), 2)


def _sla(tickets, targets, as_of):
    breaches = []
    for ticket in tickets:
        hours = _hours(ticket.created_at, ticket.resolved_at or as_of)
        if hours > targets[ticket.priority]:
            breaches.append((hours / targets[ticket.priority], hours, ticket))
    totals = Counter(ticket.priority for ticket in tickets)
    broken = Counter(ticket.priority for _, _, ticket in breaches)
    breaches.sort(key=lambda breach: (-breach[0], breach[2].id))
    return {
        "targets_hours": {priority: targets[priority] for priority in PRIORITIES},
        "breaches": len(breaches),
        "breach_rate": round(len(breaches) / len(tickets), 4),
        "by_priority": [
            {
                "name": name,
                "tickets": totals[name],
                "breaches": broken[name],
                "breach_rate": round(broken[name] / totals[name], 4) if totals[name] else 0,
            }
            for name in PRIORITIES
        ],
        "worst": [
            {
                "id": ticket.id,
                "subject": ticket.subject,
                "category": ticket.category,
                "priority": ticket.priority,
                "open": ticket.resolved_at is None,
                "hours": round(hours, 2),
                "target_hours": targets[ticket.priority],
            }
            for _, hours, ticket in breaches[:WORST]
        ],
    }


def _words(ticket):
    return {word for word in WORD.findall(ticket.subject.lower()) if word not in FILLERS}


def _keywords(tickets, count):
    first, last = min(t.created_at for t in tickets), max(t.created_at for t in tickets)
    since = first + (last - first) * 0.75
    recent = [ticket for ticket in tickets if ticket.created_at >= since]
    before = [ticket for ticket in tickets if ticket.created_at < since]
    recent_counts = Counter(word for ticket in recent for word in _words(ticket))
    before_counts = Counter(word for ticket in before for word in _words(ticket))
    rising = []
    for word, times in recent_counts.items():
        share_recent = times / len(recent)
        share_before = before_counts[word] / len(before) if before else 0
        if times >= RISING_AT_LEAST and share_recent > share_before:
            rising.append((share_recent - share_before, word, share_before, share_recent, times))
    rising.sort(key=lambda entry: (-entry[0], entry[1]))
    top = sorted((recent_counts + before_counts).items(), key=lambda item: (-item[1], item[0]))
    return {
        "recent_since": _iso(since),
        "top": [{"keyword": word, "count": times} for word, times in top[:count]],
        "rising": [
            {
                "keyword": word,
                "share_before": round(share_before, 4),
                "share_recent": round(share_recent, 4),
                "count_recent": times,
            }
            for _, word, share_before, share_recent, times in rising[:count]
        ],
    }
