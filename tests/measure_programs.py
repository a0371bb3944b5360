"""The programs of a measurement: hindcastd and hindcast-load as processes, and their reports."""
import json
import os
import re
import subprocess
import tempfile

END_S = 60  # a program that has not ended by then hangs


class Programs:
    """The programs of one directory. Each process has a name, which its report has too."""

    def __init__(self, directory):
        self.directory = directory
        self.work = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.work.name, name)

    def start(self, program, *arguments, core=None, **more):
        """Starts a program, on one core if one is given; its warnings are not shown."""
        pin = [] if core is None else ["taskset", "-c", str(core)]
        return subprocess.Popen([*pin, os.path.join(self.directory, program), *map(str, arguments)], text=True,
                                **{"stderr": subprocess.DEVNULL, **more})

    def serve(self, name, *arguments, core=None, **more):
        """Starts a daemon for any number of clients; returns its process and its port."""
        daemon = self.start("hindcastd", "--dev", "--bind", "127.0.0.1", "--port", 0, "--clients-per-address", 0,
                            "--connects-per-address", 0, "--log-level", "error", "--json", self.path(name),
                            *arguments, core=core, stdout=subprocess.PIPE, **more)
        line = daemon.stdout.readline()
        return daemon, re.search(r":([0-9]+)$", line.strip()).group(1)

    def load(self, name, *arguments, **more):
        """Starts a load test."""
        return self.start("hindcast-load", "--json", self.path(name), *arguments, stdout=subprocess.DEVNULL, **more)

    def report(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def end(self, name, daemon):
        """Ends a daemon; returns its report."""
        daemon.terminate()
        daemon.communicate(timeout=END_S)
        return self.report(name)
