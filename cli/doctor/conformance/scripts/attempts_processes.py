"""Other processes, the daemon among them where it is in sight: what they hold, and whether they can be disturbed."""
import ctypes
import os
import re
import resource
import signal
import time

from report import Refused, attempt, read

# What the sandbox itself sets. Python adds LC_CTYPE to its own.
OWN_VARIABLES = {
    "PATH", "HOME", "LANG", "LC_CTYPE", "OUTPUT_DIR", "TMPDIR", "COGNITION_EGRESS_SOCKET", "PWD", "SHLVL", "_", "OLDPWD",
}
HIJACKS = re.compile(r"^(?:LD_|NODE_|PYTHON|BASH_ENV$|ENV$|PERL5|RUBY|AWS_|ECS_|COGNITION_)")
SECRETS = ("environ", "mem", "maps", "auxv", "syscall", "stack", "io", "personality")

libc = ctypes.CDLL(None, use_errno=True)


def status_of(pid):
    try:
        fields = dict(line.split(":", 1) for line in open("/proc/%d/status" % pid) if ":" in line)
    except OSError:
        return None, None
    return fields["State"].split()[0], fields["Uid"].split()[0]


def alive(pid):
    return status_of(pid)[0] not in (None, "Z", "X")


def kill(pid, number):
    os.kill(pid, number)
    time.sleep(0.02)
    # The first process of a namespace is told of signals and does not die of them.
    if alive(pid) and status_of(pid)[0] != "T":
        raise Refused("it is still there")
    return "gone"


def trace(pid):
    ctypes.set_errno(0)
    if libc.ptrace(16, pid, 0, 0) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return "attached"


def variables():
    found = sorted(name for name in os.environ if name not in OWN_VARIABLES and HIJACKS.match(name))
    if not found:
        raise Refused("there is none")
    return found


def run():
    attempt("processes", "a variable of daemon, task or account", variables)
    descriptors = [name for name in os.listdir("/proc/self/fd") if int(name) > 2]
    kept = [os.readlink("/proc/self/fd/" + name) for name in descriptors if os.path.exists("/proc/self/fd/" + name)]
    attempt("processes", "a descriptor of somebody else", lambda: inherited(kept))
    uid = os.getuid()
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        if pid == os.getpid():
            continue
        state, of = status_of(pid)
        if state is None:
            continue
        look_into(pid)
        # The init of a namespace of the command's own is the command's own user; what it is told matters to nobody else.
        if int(of) != uid:
            disturb(pid)
        attempt("processes", "kill process %d" % pid, lambda: kill(pid, signal.SIGKILL))
        attempt("processes", "stop process %d" % pid, lambda: kill(pid, signal.SIGSTOP))
    others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    attempt("processes", "kill everything", lambda: kill_all(others))


def inherited(kept):
    foreign = [link for link in kept if not link.startswith(("pipe:", "/skills/", "/proc/", "/dev/null"))]
    if not foreign:
        raise Refused("there is none")
    return foreign


def look_into(pid):
    for what in SECRETS:
        attempt("processes", "%s of process %d" % (what, pid), lambda: read("/proc/%d/%s" % (pid, what), 64))
    for what in ("fd", "fdinfo", "root", "cwd", "map_files"):
        attempt("processes", "%s of process %d" % (what, pid), lambda: os.listdir("/proc/%d/%s/" % (pid, what)))
    attempt("processes", "program of process %d" % pid, lambda: os.readlink("/proc/%d/exe" % pid))
    attempt("processes", "trace process %d" % pid, lambda: trace(pid))


def disturb(pid):
    attempt("processes", "priority of process %d" % pid, lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    attempt("processes", "processors of process %d" % pid, lambda: os.sched_setaffinity(pid, {0}))
    attempt("processes", "limits of process %d" % pid, lambda: resource.prlimit(pid, resource.RLIMIT_AS, (1, 1)))
    attempt("processes", "end of process %d when memory is short" % pid, lambda: score(pid))


def score(pid):
    with open("/proc/%d/oom_score_adj" % pid, "w") as file:
        file.write("1000")
    return "written"


def kill_all(others):
    os.kill(-1, signal.SIGKILL)
    time.sleep(0.02)
    gone = [pid for pid in others if not alive(pid)]
    if not gone:
        raise Refused("all are still there")
    return gone
