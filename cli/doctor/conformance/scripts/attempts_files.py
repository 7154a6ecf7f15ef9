"""Files of daemon, system and kernel, sealed packages and inputs, and the programs that a run starts."""
import ctypes
import os
import stat
import sys

from report import Refused, attempt, read, write

SECRET_FILES = (
    "/etc/shadow", "/root/.aws/credentials", "/root/.bashrc", "/proc/kcore", "/proc/kmsg", "/dev/mem", "/dev/kmsg",
    "/run/secrets", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/proc/1/root/etc/shadow",
)
SYSTEM_FOLDERS = (
    "/", "/etc", "/usr", "/usr/bin", "/usr/lib", "/bin", "/lib", "/opt", "/opt/node/bin", "/opt/sandboxd", "/run",
    "/run/cognition", "/dev", "/proc", "/sys", "/var", "/root", "/skills", "/usr/local/bin",
)
KERNEL_SETTINGS = (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches",
    "/proc/sys/net/ipv4/ip_forward", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/fs/cgroup/cgroup.procs",
)

libc = ctypes.CDLL(None, use_errno=True)
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def content(path):
    """A device that gives nothing stands for a file that is hidden."""
    found = read(path, 64)
    if found == b"":
        raise Refused("it is empty")
    return found


def mount(*arguments):
    ctypes.set_errno(0)
    if libc.mount(*arguments) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return "mounted"


def block_devices():
    found = [name for name in os.listdir("/dev") if stat.S_ISBLK(os.lstat("/dev/" + name).st_mode)]
    if not found:
        raise Refused("there is none")
    return found


def tree(folder):
    return {
        os.path.join(base, name): (os.lstat(os.path.join(base, name)).st_mode, read(os.path.join(base, name), 1 << 20))
        for base, _, names in os.walk(folder)
        for name in names
    }


def run():
    for path in SECRET_FILES:
        attempt("files", "read %s" % path, lambda: content(path))
    for folder in SYSTEM_FOLDERS:
        attempt("files", "create in %s" % folder, lambda: write(os.path.join(folder, ".conformance")))
    for path in KERNEL_SETTINGS:
        attempt("files", "write %s" % path, lambda: write(path, "0"))
    attempt("files", "make a character device", lambda: os.mknod("/outputs/device", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))
    attempt("files", "make a block device", lambda: os.mknod("/workspace/device", 0o666 | stat.S_IFBLK, os.makedev(8, 0)))
    attempt("files", "a block device in /dev", block_devices)
    hijacks()
    sealed("skills", HERE, os.path.join(HERE, "SKILL.md"))
    inputs = "/workspace/inputs"
    names = sorted(os.listdir(inputs))
    sealed("inputs", inputs, os.path.join(inputs, names[0]) if names else inputs)
    attempt("inputs", "put another folder in their place", lambda: os.rename(inputs, "/workspace/elsewhere"))


def hijacks():
    for program in ("/usr/bin/python3", "/bin/sh", sys.executable):
        attempt("hijacks", "overwrite %s" % program, lambda: write(os.path.realpath(program)))
    for folder in filter(None, os.environ.get("PATH", "").split(":")):
        attempt("hijacks", "a program in %s of PATH" % folder, lambda: write(os.path.join(folder, "python3.conformance")))
    for folder in sys.path:
        attempt("hijacks", "a module in %s" % folder, lambda: write(os.path.join(folder, "sitecustomize.py")))
    attempt("hijacks", "a library for every program", lambda: write("/etc/ld.so.preload", "/tmp/x.so"))
    broker = os.environ.get("COGNITION_EGRESS_SOCKET", "/run/cognition/egress.sock")
    attempt("hijacks", "remove the broker's socket", lambda: os.unlink(broker))
    attempt("hijacks", "move the broker's socket", lambda: os.rename(broker, broker + ".old"))


def sealed(group, base, file):
    """Every way to change what was verified before the run began."""
    write("/workspace/own")
    before = tree(base)
    inside = os.path.join(base, "link")
    for name, action in {
        "write": lambda: write(file),
        "append": lambda: open(file, "a").write("x"),
        "open for writing": lambda: open(file, "r+").close(),
        "truncate": lambda: os.truncate(file, 0),
        "create": lambda: write(os.path.join(base, "new")),
        "make a folder": lambda: os.mkdir(os.path.join(base, "folder")),
        "rename": lambda: os.rename(file, os.path.join(base, "moved")),
        "rename over": lambda: os.rename("/workspace/own", file),
        "rename the folder": lambda: os.rename(base, base + "-moved"),
        "unlink": lambda: os.unlink(file),
        "chmod": lambda: os.chmod(file, 0o777),
        "chmod the folder": lambda: os.chmod(base, 0o777),
        "chown": lambda: os.chown(file, os.getuid(), os.getgid()),
        "change the times": lambda: os.utime(file),
        "hard link out": lambda: os.link(file, "/workspace/out-of-%s" % group),
        "hard link in": lambda: os.link("/workspace/own", inside),
        "symbolic link in": lambda: os.symlink("/etc/passwd", inside),
        "an attribute": lambda: os.setxattr(file, "user.x", b"y"),
        "mount over": lambda: mount(b"none", base.encode(), b"tmpfs", 0, None),
        "mount writable": lambda: mount(b"none", base.encode(), None, 0x20, None),
        "write through /proc/self/fd": lambda: write("/proc/self/fd/%d" % os.open(file, os.O_RDONLY)),
        "write through another root": lambda: write("/proc/1/root" + file),
    }.items():
        attempt(group, name, action)
    attempt(group, "a change that was not noticed", lambda: unchanged(before, base))


def unchanged(before, base):
    after = tree(base)
    if after == before:
        raise Refused("%d files are as they were" % len(before))
    return sorted(set(after.items()) ^ set(before.items()))
