"""Runs inside a sandbox and tries to get out of it. Prints one JSON object: attempt -> what came of it."""
import ctypes, errno, fcntl, json, os, platform, socket, stat, subprocess, sys

results = {}

def attempt(name, action):
    """A value is what an attempt got; a string of an errno, or of an exception, is how it was refused."""
    try:
        results[name] = {"got": action()}
    except OSError as error:
        results[name] = {"refused": errno.errorcode.get(error.errno, str(error))}
    except Exception as error:
        results[name] = {"refused": type(error).__name__}

def read(path, size=65536):
    with open(path, "rb") as file:
        return file.read(size).decode("latin-1")

def descriptors(of):
    """The folder's own descriptor is among the names, and gone when it is asked for."""
    links = {}
    for name in os.listdir("/proc/%s/fd" % of):
        try:
            links[name] = os.readlink("/proc/%s/fd/%s" % (of, name))
        except FileNotFoundError:
            pass
    return links

def write(path, text="x"):
    with open(path, "w") as file:
        file.write(text)
    return "written"

def files():
    for path in sys.argv[2:]:
        attempt("read " + path, lambda: read(path))
    attempt("root", lambda: sorted(os.listdir("/")))
    attempt("etc", lambda: sorted(os.listdir("/etc")))
    attempt("passwd", lambda: read("/etc/passwd"))
    for path in ["/root", "/home", "/var", "/mnt", "/srv", "/boot", "/sys", "/run", "/usr/local", "/workspace", "/outputs", "/tmp", "/dev/shm"]:
        attempt("list " + path, lambda: sorted(os.listdir(path)))
    for path in ["/new", "/etc/new", "/usr/new", "/bin/new", "/opt/new", "/opt/node/new", "/run/new", "/dev/new", "/proc/new"]:
        attempt("create " + path, lambda: write(path))
    for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/self/oom_score_adj_none", "/proc/sys/vm/drop_caches", "/proc/1/oom_score_adj", "/proc/kcore", "/proc/kmsg"]:
        attempt("write " + path, lambda: write(path, "0"))
    attempt("read /proc/kcore", lambda: read("/proc/kcore", 16))
    attempt("read /proc/kmsg", lambda: read("/proc/kmsg", 16) if os.access("/proc/kmsg", os.R_OK) else os.open("/proc/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    attempt("dev", lambda: sorted(os.listdir("/dev")))
    attempt("block devices", lambda: [n for n in os.listdir("/dev") if stat.S_ISBLK(os.lstat("/dev/" + n).st_mode)])
    attempt("mknod char", lambda: os.mknod("/outputs/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))
    attempt("mknod block", lambda: os.mknod("/workspace/sda", 0o666 | stat.S_IFBLK, os.makedev(8, 0)))
    attempt("mounts", lambda: [line.split()[1:4] for line in read("/proc/self/mounts").splitlines()])

def processes():
    pids = sorted(int(n) for n in os.listdir("/proc") if n.isdigit())
    results["pids"] = pids
    results["own"] = [os.getpid(), os.getppid()]
    for pid in [1, os.getppid()]:
        attempt("environ of %d" % pid, lambda: read("/proc/%d/environ" % pid))
        attempt("fds of %d" % pid, lambda: descriptors(pid))
        attempt("memory of %d" % pid, lambda: read("/proc/%d/mem" % pid, 1))
        attempt("root of %d" % pid, lambda: sorted(os.listdir("/proc/%d/root/" % pid)))
        attempt("cmdline of %d" % pid, lambda: read("/proc/%d/cmdline" % pid))
    attempt("own fds", lambda: descriptors("self"))
    attempt("environment", lambda: dict(os.environ))
    attempt("status", lambda: dict(line.split(":\t", 1) for line in read("/proc/self/status").splitlines() if ":\t" in line))
    attempt("setuid", lambda: os.setuid(0))
    attempt("setgid", lambda: os.setgid(0))
    attempt("setgroups", lambda: os.setgroups([0]))
    attempt("chroot", lambda: os.chroot("/workspace"))
    attempt("nice", lambda: os.nice(-5))
    attempt("hostname", lambda: socket.sethostname("evil"))
    attempt("id after su", lambda: subprocess.run(["su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, timeout=5).stdout.decode())
    attempt("cgroup", lambda: read("/proc/self/cgroup"))

FAMILIES = {"INET": 2, "INET6": 10, "NETLINK": 16, "PACKET": 17, "ALG": 38, "VSOCK": 40, "RXRPC": 33, "KEY": 15, "CAN": 29, "BLUETOOTH": 31, "XDP": 44, "TIPC": 30, "QIPCRTR": 42, "SMC": 43}

def network():
    for name, family in FAMILIES.items():
        for kind, number in {"STREAM": 1, "DGRAM": 2, "RAW": 3, "SEQPACKET": 5}.items():
            attempt("socket %s %s" % (name, kind), lambda: libc_call(libc.socket, family, number, 0))
        attempt("socketpair %s" % name, lambda: libc_call(libc.socketpair, family, 1, 0, (ctypes.c_int * 2)()))
    attempt("UNIX", lambda: [socket.socket(socket.AF_UNIX).close(), [s.close() for s in socket.socketpair()]] and "opened")
    attempt("lookup", lambda: socket.getaddrinfo("example.com", 443))
    attempt("lookup of localhost", lambda: socket.create_connection(("localhost", 8477), 1))
    for host, port in [("127.0.0.1", 8477), ("169.254.170.2", 80), ("169.254.169.254", 80), ("127.88.0.1", 8477), ("::1", 8477)] + [tuple(a.rsplit(":", 1)) for a in sys.argv[2:]]:
        attempt("connect %s:%s" % (host, port), lambda: socket.create_connection((host, int(port)), 1))
    attempt("interfaces", lambda: [line.split(":")[0].strip() for line in read("/proc/net/dev").splitlines()[2:]])
    attempt("abstract sockets", lambda: [line.split()[-1] for line in read("/proc/net/unix").splitlines()[1:] if "@" in line])

libc = ctypes.CDLL(None, use_errno=True)

def libc_call(function, *arguments):
    answer = function(*arguments)
    if answer == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return answer

X64 = {"io_uring_setup": 425, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "keyctl": 250, "add_key": 248, "request_key": 249, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "setns": 308, "unshare": 272, "mount": 165, "umount2": 166, "pivot_root": 155, "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "semget": 64, "msgget": 68, "open_by_handle_at": 304, "init_module": 175, "finit_module": 313, "kexec_load": 246, "swapon": 167, "reboot": 169, "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442, "pidfd_getfd": 438, "clone3": 435, "quotactl": 179, "acct": 163, "settimeofday": 164, "iopl": 172, "syslog": 103, "name_to_handle_at": 303, "fanotify_init": 300}
ARM64 = {"io_uring_setup": 425, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "keyctl": 219, "add_key": 217, "request_key": 218, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "setns": 268, "unshare": 97, "mount": 40, "umount2": 39, "pivot_root": 41, "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "semget": 190, "msgget": 186, "open_by_handle_at": 265, "init_module": 105, "finit_module": 273, "kexec_load": 104, "swapon": 224, "reboot": 142, "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442, "pidfd_getfd": 438, "clone3": 435, "quotactl": 60, "acct": 89, "settimeofday": 170, "syslog": 116, "name_to_handle_at": 264, "fanotify_init": 262}

ARGUMENTS = {
    "unshare": (0x10000000,), "memfd_create": (b"x", 0), "shmget": (0, 4096, 0o1600), "semget": (0, 1, 0o1600),
    "msgget": (0, 0o1600), "ptrace": (16, 1, 0, 0), "setns": (0, 0), "clone3": (0, 0), "mount": (b"none", b"/workspace", b"tmpfs", 0, 0),
    "syslog": (3, ctypes.create_string_buffer(64), 64), "add_key": (b"user", b"a", b"b", 1, -3), "keyctl": (0, -3, 0),
    "open_tree": (-100, b"/", 1), "fsopen": (b"tmpfs", 0), "io_uring_setup": (8, ctypes.create_string_buffer(256)),
    "userfaultfd": (1,), "perf_event_open": (ctypes.create_string_buffer(128), 0, -1, -1, 0), "bpf": (0, ctypes.create_string_buffer(128), 48),
    "process_vm_readv": (1, 0, 0, 0, 0, 0), "process_vm_writev": (1, 0, 0, 0, 0, 0), "fanotify_init": (0, 0),
}

def syscalls():
    numbers = X64 if platform.machine() == "x86_64" else ARM64
    for name, number in numbers.items():
        attempt(name, lambda: libc_call(libc.syscall, ctypes.c_long(number), *ARGUMENTS.get(name, (0, 0, 0, 0, 0))))
    for flag, name in {0x10000000: "user", 0x00020000: "mount", 0x20000000: "pid", 0x40000000: "net", 0x08000000: "ipc", 0x04000000: "uts", 0x02000000: "cgroup"}.items():
        attempt("unshare " + name, lambda: libc_call(libc.unshare, flag))
    attempt("TIOCSTI", lambda: fcntl.ioctl(os.open("/dev/null", os.O_RDWR), 0x5412, b"x"))
    attempt("terminal", lambda: os.open("/dev/tty", os.O_RDWR))
    if platform.machine() == "x86_64":
        attempt("x32 getpid", lambda: libc_call(libc.syscall, ctypes.c_long(0x40000000 | 39)))

def skills():
    base = "/skills/probe"
    file = base + "/SKILL.md"
    before = {path: read(os.path.join(path)) for path in [file, base + "/scripts/probe.py"]}
    attempt("write", lambda: write(file))
    attempt("append", lambda: open(file, "a").write("x"))
    attempt("open r+", lambda: open(file, "r+").close())
    attempt("truncate", lambda: os.truncate(file, 0))
    attempt("create", lambda: write(base + "/new"))
    attempt("create beside", lambda: write("/skills/new"))
    attempt("mkdir", lambda: os.mkdir("/skills/other"))
    attempt("rename", lambda: os.rename(file, base + "/moved"))
    attempt("rename over", lambda: os.rename("/workspace/own", file))
    attempt("rename the folder", lambda: os.rename(base, "/skills/moved"))
    attempt("unlink", lambda: os.unlink(file))
    attempt("rmdir", lambda: os.rmdir(base + "/scripts"))
    attempt("chmod", lambda: os.chmod(file, 0o777))
    attempt("chmod the folder", lambda: os.chmod(base, 0o777))
    attempt("chown", lambda: os.chown(file, os.getuid(), os.getgid()))
    attempt("utime", lambda: os.utime(file))
    attempt("hard link out", lambda: os.link(file, "/workspace/link"))
    attempt("hard link in", lambda: os.link("/workspace/own", base + "/link"))
    attempt("symlink in", lambda: os.symlink("/etc/passwd", base + "/link"))
    attempt("xattr", lambda: os.setxattr(file, "user.x", b"y"))
    attempt("remount", lambda: libc_call(libc.mount, b"none", b"/skills", None, 0x20, None))
    attempt("unmount", lambda: libc_call(libc.umount2, b"/skills", 2))
    attempt("write through /proc/self/fd", lambda: write("/proc/self/fd/%d" % os.open(file, os.O_RDONLY)))
    attempt("write through /proc/1/root", lambda: write("/proc/1/root" + file))
    results["unchanged"] = all(read(path) == text for path, text in before.items())
    results["names"] = sorted(os.listdir(base)) + sorted(os.listdir("/skills"))
    attempt("modes", lambda: {name: oct(os.stat(os.path.join(base, name)).st_mode & 0o7777) for name in ["SKILL.md", "scripts", "scripts/probe.py"]})

write("/workspace/own")
{"files": files, "processes": processes, "network": network, "syscalls": syscalls, "skills": skills}[sys.argv[1]]()
print(json.dumps(results))
