"""
Leaves outputs of every kind that must not be collected, and some that must be, beside processes that go on changing
them. Whether they were refused is for the reader of the run's artifacts to say.
"""
import os
import socket
import time

SECRET = "/etc/passwd"


def background(action):
    """A process that has left the command in every way."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in (0, 1, 2):
                os.close(descriptor)
            while True:
                try:
                    action()
                except OSError:
                    pass
        os._exit(0)


def swap_parent():
    os.rename("/outputs/swapped", "/outputs/aside")
    os.symlink("/etc", "/outputs/swapped")
    os.unlink("/outputs/swapped")
    os.rename("/outputs/aside", "/outputs/swapped")


def grow():
    with open("/outputs/growing", "ab") as file:
        file.write(b"x" * 1024)
    time.sleep(0.005)


def run():
    os.chdir("/outputs")
    text("good", "good")
    os.mkdir("swapped")
    text("swapped/passwd", "of the run")
    text("growing", "")
    text("closed", "closed")
    os.chmod("closed", 0)
    os.symlink(SECRET, "link")
    os.symlink("/etc", "folder")
    os.symlink("loop", "loop")
    os.symlink("/skills", "skills")
    os.mkfifo("pipe")
    socket.socket(socket.AF_UNIX).bind("socket")
    text("one", "twice")
    os.link("one", "two")
    text("large", "")
    try:
        os.truncate("large", 65 << 20)
    except OSError:
        # A profile may let no file be that large.
        os.unlink("large")
    text(b"not-utf8-\xff", "x")
    text("line\nbreak", "x")
    background(grow)
    background(swap_parent)
    time.sleep(0.2)


def text(path, content):
    with open(path, "w") as file:
        file.write(content)
