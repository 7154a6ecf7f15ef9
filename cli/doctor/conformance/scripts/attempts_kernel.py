"""System calls that reach other processes, the kernel or the host, or get around limits and filters."""
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import socket
import subprocess

from report import Refused, Unrefused, attempt

REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS}
# A namespace of users may not even know who root is.
NO_SUCH_USER = {errno.EPERM, errno.EINVAL}
MACHINE = platform.machine()
# [x86-64, arm64], and arguments that would do something where nothing refuses.
buffer = ctypes.create_string_buffer(256)
CALLS = {
    "io_uring_setup": (425, 425, (8, buffer)), "ptrace": (101, 117, (16, 1, 0, 0)),
    "process_vm_readv": (310, 270, (1, 0, 0, 0, 0, 0)), "process_vm_writev": (311, 271, (1, 0, 0, 0, 0, 0)),
    "keyctl": (250, 219, (0, -3, 0)), "add_key": (248, 217, (b"user", b"a", b"b", 1, -3)),
    "request_key": (249, 218, (b"user", b"a", 0, 0)), "bpf": (321, 280, (0, buffer, 48)),
    "userfaultfd": (323, 282, (1,)), "perf_event_open": (298, 241, (buffer, 0, -1, -1, 0)),
    "setns": (308, 268, (0, 0)), "unshare": (272, 97, (0x10000000,)),
    "mount": (165, 40, (b"none", b"/workspace", b"tmpfs", 0, 0)), "umount2": (166, 39, (b"/workspace", 2)),
    "pivot_root": (155, 41, (b"/workspace", b"/workspace")), "chroot": (161, 51, (b"/workspace",)),
    "memfd_create": (319, 279, (b"x", 0)), "memfd_secret": (447, 447, (0,)),
    "shmget": (29, 194, (0, 4096, 0o1600)), "semget": (64, 190, (0, 1, 0o1600)), "msgget": (68, 186, (0, 0o1600)),
    "open_by_handle_at": (304, 265, (0, buffer, 0)), "name_to_handle_at": (303, 264, (-100, b"/", buffer, buffer, 0)),
    "init_module": (175, 105, (buffer, 0, b"")), "finit_module": (313, 273, (0, b"", 0)),
    "kexec_load": (246, 104, (0, 0, 0, 0)), "swapon": (167, 224, (b"/workspace/x", 0)),
    "reboot": (169, 142, (0, 0, 0)), "open_tree": (428, 428, (-100, b"/", 1)),
    "move_mount": (429, 429, (-100, b"/", -100, b"/", 0)), "fsopen": (430, 430, (b"tmpfs", 0)),
    "mount_setattr": (442, 442, (-100, b"/", 0, buffer, 32)), "pidfd_getfd": (438, 438, (0, 0, 0)),
    "clone3": (435, 435, (0, 0)), "quotactl": (179, 60, (0, 0, 0, 0)), "acct": (163, 89, (0,)),
    "settimeofday": (164, 170, (buffer, 0)), "syslog": (103, 116, (3, buffer, 64)),
    "fanotify_init": (300, 262, (0, 0)), "sethostname": (170, 161, (b"x", 1)),
    "a call newer than the filter": (500, 500, ()),
}
NAMESPACES = {
    "user": 0x10000000, "mount": 0x20000, "process": 0x20000000, "network": 0x40000000, "IPC": 0x8000000,
    "hostname": 0x4000000, "cgroup": 0x2000000,
}
NEW_USER_AND_SIGCHLD = 0x10000011
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

libc = ctypes.CDLL(None, use_errno=True)


def system_call(number, *arguments):
    ctypes.set_errno(0)
    answer = libc.syscall(ctypes.c_long(number), *arguments)
    if answer == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return answer


def clone_with_namespace():
    answer = system_call(220 if MACHINE == "aarch64" else 56, NEW_USER_AND_SIGCHLD, 0, 0, 0, 0)
    if answer == 0:
        os._exit(0)
    return answer


def foreign_architecture():
    """getpid of i386 by int 0x80: the process that calls it has to die of it."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    child = os.fork()
    if child == 0:
        function()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        raise Refused("it died of signal %d" % os.WTERMSIG(status))
    return status


def terminal_injection(request):
    return fcntl.ioctl(os.open("/dev/null", os.O_RDWR), request, b"x")


def status_field(name):
    for line in open("/proc/self/status"):
        if line.startswith(name + ":"):
            return line.split(None, 1)[1].strip()
    raise Unrefused("the kernel does not say what %s is" % name)


def must_be(name, wanted):
    found = status_field(name)
    if found == wanted:
        raise Refused("it is %s" % found)
    return found


def become_root_by_program():
    answer = subprocess.run(["su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    if answer.stdout.strip() != b"0":
        raise Refused("exit code %d" % answer.returncode)
    return "root"


def run():
    for name, (x64, arm64, arguments) in CALLS.items():
        number = arm64 if MACHINE == "aarch64" else x64
        attempt("kernel", name, lambda: system_call(number, *arguments), REFUSALS)
    for name, flag in NAMESPACES.items():
        attempt("kernel", "a %s namespace" % name, lambda: system_call(97 if MACHINE == "aarch64" else 272, flag), REFUSALS)
    attempt("kernel", "clone with a user namespace", clone_with_namespace, REFUSALS)
    attempt("kernel", "type into a terminal", lambda: terminal_injection(TIOCSTI), REFUSALS)
    attempt("kernel", "paste into a terminal", lambda: terminal_injection(TIOCLINUX), REFUSALS)
    if MACHINE == "x86_64":
        attempt("kernel", "a system call of x32", lambda: system_call(0x40000000 + 39), REFUSALS)
        attempt("kernel", "a system call of another architecture", foreign_architecture)
    for field in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        attempt("rights", "a capability in %s" % field, lambda: must_be(field, "0" * 16))
    attempt("rights", "new privileges", lambda: must_be("NoNewPrivs", "1"))
    attempt("rights", "running without a filter", lambda: must_be("Seccomp", "2"))
    attempt("rights", "become root", lambda: os.setuid(0), NO_SUCH_USER)
    attempt("rights", "join the group of root", lambda: os.setgid(0), NO_SUCH_USER)
    attempt("rights", "change groups", lambda: os.setgroups([0]))
    attempt("rights", "become root by su", become_root_by_program)
    attempt("rights", "raise the own priority", lambda: os.nice(-5))
    attempt("rights", "rename the machine", lambda: socket.sethostname("x"))
