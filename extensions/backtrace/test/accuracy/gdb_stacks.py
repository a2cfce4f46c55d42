"""Runs inside gdb, attached to a backend: each stop's stack as a line of JSON, to its end.

$stops: the location of a breakpoint, or empty for the signals of crashes; $output: the file.
"""

import json

import gdb


def stack() -> list:
    frames = []
    frame = gdb.newest_frame()
    while frame is not None:
        place = frame.find_sal()
        path = place.symtab.fullname() if place.symtab else None
        inlined = frame.type() == gdb.INLINE_FRAME
        # gdb infers who left by a tail call; no stack holds such a frame.
        if frame.type() != gdb.TAILCALL_FRAME:
            frames.append((frame.pc(), frame.name(), path, place.line, inlined))
        try:
            frame = frame.older()
        except gdb.error:
            break
    return frames


def follow(location: str, output: str) -> None:
    gdb.execute("handle all nostop noprint pass")
    gdb.execute("handle SIGINT nostop noprint pass")  # which "all" leaves out
    if location:
        gdb.Breakpoint(location)
    else:
        gdb.execute("handle SIGSEGV SIGBUS SIGILL SIGABRT stop print pass")
    with open(output, "w") as file:
        print("attached", file=file, flush=True)
        while True:
            gdb.execute("continue")
            if gdb.selected_inferior().pid == 0:
                break
            print(json.dumps(stack()), file=file, flush=True)


gdb.execute("set pagination off")
gdb.execute("set debuginfod enabled off")
follow(gdb.convenience_variable("stops").string(), gdb.convenience_variable("output").string())
