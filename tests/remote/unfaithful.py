#!/usr/bin/env python3
"""Starts a worker and hands bytes on as a bad network does: a launcher for tests.

    unfaithful.py [--delay MS] [--cut BYTES] [--flip BYTE] [--twice BYTE] [--stall BYTE] COMMAND...

Bytes are counted on the way from the worker. --delay holds each piece up, both ways; --cut ends it behind so many; --flip changes one bit of that
one; --twice sends the piece with that one twice; --stall hands nothing on from there, and keeps everything open.
"""
import argparse
import os
import subprocess
import sys
import threading
import time

p = argparse.ArgumentParser()
p.add_argument("--delay", type=float, default=0)
for name in ("cut", "flip", "twice", "stall"):
    p.add_argument("--" + name, type=int, default=-1)
p.add_argument("command", nargs=argparse.REMAINDER)
a = p.parse_args()
worker = subprocess.Popen(a.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def write(fd, data):
    while data:
        data = data[os.write(fd, data):]


def pass_on(source, to, change):
    """Holds every piece up by the same time; several are on their way at once, as on a long line."""
    seen, line, more = 0, [], threading.Condition()

    def deliver():
        while True:
            with more:
                while not line:
                    more.wait()
                due, data = line.pop(0)
            time.sleep(max(0, due - time.monotonic()))
            try:
                if not data:
                    os.close(to)
                    return
                write(to, data)
            except OSError:
                return

    t = threading.Thread(target=deliver, daemon=True)
    t.start()
    while True:
        data = os.read(source, 65536)
        last = not data
        if change and data:
            begin, seen = seen, seen + len(data)
            if begin <= a.flip < seen:
                data = bytearray(data)
                data[a.flip - begin] ^= 4
                data = bytes(data)
            if begin <= a.twice < seen:
                data = data + data
            if begin <= a.stall < seen:
                threading.Event().wait()
            if begin <= a.cut < seen:
                write(to, data[:a.cut - begin])
                worker.kill()
                os._exit(9)
        with more:
            line.append((time.monotonic() + a.delay / 1000, data))
            more.notify()
        if last:
            t.join()
            return


threading.Thread(target=pass_on, args=(0, worker.stdin.fileno(), False), daemon=True).start()
pass_on(worker.stdout.fileno(), 1, True)
sys.exit(worker.wait())
