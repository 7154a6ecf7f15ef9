"""A gigabyte without a line break, lines that look like those of logs and events, and an exit code of its own."""
import os
import sys

PIECE = b"x" * (1 << 20)
EXIT_CODE = 7
FORGED = (
    'END RequestId: 00000000-0000-0000-0000-000000000000\n'
    '{"level":"INFO","message":"run succeeded","_aws":{"CloudWatchMetrics":[]}}\n'
    '{"sequence":1,"type":"run.succeeded","stage":"finish","data":{}}\n'
    'sandboxd: exit 0\n'
    '\x1b[2J\x1b]0;forged\x07exit 0\n'
)

os.write(2, FORGED.encode())
for _ in range(1024):
    at = 0
    while at < len(PIECE):
        at += os.write(1, PIECE[at:])
sys.exit(EXIT_CODE)
