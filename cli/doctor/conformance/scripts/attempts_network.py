"""Sockets of every family but Unix, and what they would lead to."""
import ctypes
import errno
import socket

from report import Refused, attempt

FAMILIES = {
    "INET": 2, "INET6": 10, "KEY": 15, "NETLINK": 16, "PACKET": 17, "CAN": 29, "TIPC": 30, "BLUETOOTH": 31,
    "RXRPC": 33, "ALG": 38, "VSOCK": 40, "QIPCRTR": 42, "SMC": 43, "XDP": 44,
}
KINDS = {"STREAM": 1, "DGRAM": 2, "RAW": 3, "SEQPACKET": 5}
# The filter answers with the first. So does a kernel that has no such family, and there is no more to be had from it.
REFUSALS = {errno.EAFNOSUPPORT, errno.EPERM, errno.EACCES}
TARGETS = {
    "the endpoint of task metadata and credentials": ("169.254.170.2", 80),
    "the endpoint of instance metadata": ("169.254.169.254", 80),
    "the endpoint of instance metadata over IPv6": ("fd00:ec2::254", 80),
    "the resolver of the VPC": ("169.254.169.253", 53),
    "the time service": ("169.254.169.123", 123),
    "the sandbox's own daemon": ("127.0.0.1", 8477),
    "the sandbox's own daemon over IPv6": ("::1", 8477),
    "the internet": ("192.0.2.1", 443),
}

libc = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    ctypes.set_errno(0)
    if function(*arguments) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return "opened"


def own_addresses():
    """Without a socket: the kernel lists them in a file that every process can read."""
    found = set()
    try:
        lines = open("/proc/net/fib_trie").read().split("\n")
    except OSError:
        return found
    for before, line in zip(lines, lines[1:]):
        if "/32 host LOCAL" in line:
            found.add(before.split()[-1])
    return found - {"127.0.0.1"}


def look_up():
    """Whatever a resolver that cannot be asked answers with."""
    try:
        return socket.getaddrinfo("example.com", 443)
    except socket.gaierror as error:
        raise Refused(error.strerror)


def run():
    for name, family in FAMILIES.items():
        for kind, number in KINDS.items():
            attempt("sockets", "socket %s %s" % (name, kind), lambda: call(libc.socket, family, number, 0), REFUSALS)
        pair = (ctypes.c_int * 2)()
        attempt("sockets", "socket pair %s" % name, lambda: call(libc.socketpair, family, 1, 0, pair), REFUSALS)
    targets = dict(TARGETS, **{"the daemon at %s" % address: (address, 8477) for address in own_addresses()})
    for name, address in targets.items():
        attempt("network", "connect to %s" % name, lambda: socket.create_connection(address, 2), REFUSALS)
    attempt("network", "look up a name", look_up)
