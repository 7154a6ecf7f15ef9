"""Taking all there is of something: processes, space, descriptors, size."""
import errno
import os
import signal

from report import Unrefused, attempt

MANY_PROCESSES = 5_000
MANY_FILES = 100_000
# Where a whole disk is free there is no limit to be met, and this must not fill it.
MOST_SPACE = 16 << 30
PIECE = 1 << 20


def fork_bomb():
    children = []
    try:
        while len(children) < MANY_PROCESSES:
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
        return "%d processes" % len(children)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)


def fill(folder):
    space = os.statvfs(folder)
    if space.f_frsize * space.f_blocks > MOST_SPACE:
        raise Unrefused("there are %d bytes, which is no limit" % (space.f_frsize * space.f_blocks))
    path = os.path.join(folder, "fill-%d")
    files = 0
    try:
        while True:
            # Several files, because the size of one has a limit too.
            with open(path % files, "wb", buffering=0) as file:
                files += 1
                for _ in range(8):
                    if file.write(bytes(PIECE)) < PIECE:
                        raise OSError(errno.ENOSPC, "full")
    finally:
        for number in range(files):
            os.unlink(path % number)


def sparse():
    path = "/outputs/sparse-terabyte"
    with open(path, "wb"):
        pass
    try:
        os.truncate(path, 1 << 40)
        return "a terabyte"
    finally:
        os.unlink(path)


def open_files():
    opened = []
    try:
        while len(opened) < MANY_FILES:
            opened.append(os.open("/dev/null", os.O_RDONLY))
        return "%d files" % len(opened)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def run():
    attempt("limits", "a fork bomb", fork_bomb, {errno.EAGAIN})
    for folder in ("/workspace", "/outputs", "/tmp", "/dev/shm"):
        attempt("limits", "fill %s" % folder, lambda: fill(folder), {errno.ENOSPC, errno.EDQUOT})
    attempt("limits", "a sparse file of a terabyte", sparse, {errno.EFBIG, errno.ENOSPC})
    attempt("limits", "every descriptor there is", open_files, {errno.EMFILE, errno.ENFILE})
