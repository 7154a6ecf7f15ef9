"""One line of JSON for each attempt."""
import errno
import json
import os
import sys


# How a system says that something may not be had, be made or be changed.
DENIED = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.ESRCH, errno.EXDEV, errno.EBUSY,
    errno.ENXIO, errno.EOPNOTSUPP,
}


class Refused(Exception):
    """The system has refused, but not with an error: its words say how."""


class Unrefused(Exception):
    """Nothing came of the attempt, but not because the system refused it."""


def report(group, attempt, refused, detail):
    line = {"attempt": attempt, "group": group, "refused": refused, "detail": str(detail)[:160]}
    print(json.dumps(line), flush=True)


def only_in_a_sandbox():
    """Where there is none, what is tried here would be done to the machine."""
    if os.environ.get("OUTPUT_DIR") == "/outputs" and os.path.ismount("/outputs") and os.getuid() != 0:
        return
    report("runs", "running without a sandbox", False, "OUTPUT_DIR is %s, the user %d" % (os.environ.get("OUTPUT_DIR"), os.getuid()))
    sys.exit(1)


def attempt(group, name, action, refusals=DENIED):
    """Refused is what ends in one of these errors of the system. With any other it was let through, and failed for
    reasons of its own."""
    try:
        got = action()
    except Refused as refusal:
        report(group, name, True, refusal)
    except OSError as error:
        code = errno.errorcode.get(error.errno, str(error))
        report(group, name, error.errno in refusals, code)
    except Exception as error:
        report(group, name, False, "%s: %s" % (type(error).__name__, error))
    else:
        report(group, name, False, "it worked: %r" % (got,))


def write(path, text="x"):
    with open(path, "w") as file:
        file.write(text)
    return "written"


def read(path, size=4096):
    with open(path, "rb") as file:
        return file.read(size)


def done(script):
    print(json.dumps({"done": script}), flush=True)
    sys.stdout.flush()
