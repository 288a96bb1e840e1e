#!/usr/bin/env python3
"""What limits a head that feeds many workers: a simulation of the way of a run.

    tests/bench/scale.py [--head SECONDS] [--commit SECONDS] [--each SECONDS] [--bytes N] [--link BYTES/S] [--delay SECONDS] [--group N]
                         [--slots N] [--runs SECONDS,...] [--nodes N,...] [--total N]

A run waits for the head's CPU (--head, a server of its own), for the link (--bytes over --link), takes --delay on the way there and back and its own
time in a slot, and its fact waits for the store: one commit at a time, which takes --commit, and --each for every fact in it, of which a commit
takes --group at most. Then the slot gets the next run. The defaults are what `bench remote` and `bench store` measured. Times of runs are drawn
from an exponential distribution with the given mean. Prints a line for each mean and number of nodes: runs a second, the share of the time that
slots, head, link and store are at work, and how long --total runs take.
"""
import argparse
import collections
import heapq
import random


class Server:
    """One at a time, in the order of coming."""

    def __init__(self):
        self.free, self.busy = 0.0, 0.0

    def serve(self, now, seconds):
        self.free = max(self.free, now) + seconds
        self.busy += seconds
        return self.free


class Store:
    """Facts that come while a commit is under way go into the next one together."""

    def __init__(self, o):
        self.o, self.waiting, self.is_busy, self.busy = o, collections.deque(), False, 0.0

    def begin(self, now):
        facts = [self.waiting.popleft() for _ in range(min(len(self.waiting), self.o.group))]
        seconds = self.o.commit + self.o.each * len(facts)
        self.is_busy = True
        self.busy += seconds
        return now + seconds, facts


def simulate(o, nodes, mean, n):
    """Runs a second, and the shares of slots, head, link and store."""
    rng = random.Random(1)
    head, link, store = Server(), Server(), Store(o)
    events, working, done, order = [], 0.0, 0, 0
    slots = nodes * o.slots

    def put(when, what, value=None):
        nonlocal order
        order += 1
        heapq.heappush(events, (when, order, what, value))

    def start(now):
        """The head makes the request; it travels, runs and comes back."""
        nonlocal working
        seconds = rng.expovariate(1 / mean)
        working += seconds
        sent = link.serve(head.serve(now, o.head / 2), o.bytes / o.link)
        put(sent + o.delay + seconds + o.delay, "result")

    for _ in range(slots):
        put(rng.random() * mean, "start")
    now = 0.0
    while done < n:
        now, _, what, value = heapq.heappop(events)
        if what == "start":
            start(now)
        elif what == "result":
            put(head.serve(now, o.head / 2), "fact")
        elif what == "fact":
            store.waiting.append(None)
            if not store.is_busy:
                put(*(lambda end, facts: (end, "kept", facts))(*store.begin(now)))
        else:
            store.is_busy = False
            done += len(value)
            for _ in value:
                start(now)
            if store.waiting:
                put(*(lambda end, facts: (end, "kept", facts))(*store.begin(now)))
    shares = [min(1, working / (now * slots)), *(min(1, s.busy / now) for s in (head, link, store))]
    return n / now, shares


def duration(seconds):
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--head", type=float, default=1.55e-3)
    p.add_argument("--commit", type=float, default=4e-4)
    p.add_argument("--each", type=float, default=4e-5)
    p.add_argument("--bytes", type=float, default=1200)
    p.add_argument("--link", type=float, default=1.1e8)
    p.add_argument("--delay", type=float, default=5e-4)
    p.add_argument("--group", type=int, default=10000)
    p.add_argument("--slots", type=int, default=8)
    p.add_argument("--runs", default="0.1,1,10,100")
    p.add_argument("--nodes", default="10,100,1000")
    p.add_argument("--total", type=float, default=1e7)
    o = p.parse_args()
    print("| run | nodes | runs a second | slots | head | link | store | all |")
    print("|---|---|---|---|---|---|---|---|")
    for mean in map(float, o.runs.split(",")):
        for nodes in map(int, o.nodes.split(",")):
            rate, shares = simulate(o, nodes, mean, max(20000, 5 * nodes * o.slots))
            print(f"| {mean:g} s | {nodes} | {rate:.0f} | " + " | ".join(f"{s:.0%}" for s in shares) + f" | {duration(o.total / rate)} |")


main()
