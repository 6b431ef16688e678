"""Many large uploads at once, each by a curl that comes back when it is told to: all come in, and what
they take of memory together stays within http.upload_memory and a little."""

import concurrent.futures
import os
import subprocess
import time

import campaign

ARGUMENTS = campaign.arguments(uploads=64, megabytes=64, memory=1024)

import harness

EVERY_S = 0.05
# A finished graph is sorted through a copy, and then waits in memory until it is written.
BESIDE_MIB = 256


def write_graph(folder, number):
    """A list of edges, another for each."""
    path = os.path.join(folder, f"{number}.edges")
    block = "".join(f"{i % 5000} {(i * 7 + number) % 5000} {i % 1000 + 1}\n" for i in range(65536)).encode()
    with open(path, "wb") as file:
        for _ in range((ARGUMENTS.megabytes << 20) // len(block)):
            file.write(block)
    return path


def upload(daemon, path):
    began = time.monotonic()
    done = subprocess.run(
        ["curl", "-sS", "--retry", "1000", "--max-time", "3000", "-f", "-o", path + ".answer",
         "-w", "%{http_code}", "-H", "Content-Type: text/plain", "-T", path, "-X", "POST",
         daemon.url + "/v1/graphs?format=edges"], capture_output=True, text=True)
    assert done.stdout.endswith(("200", "201")), (done.stdout, done.stderr)
    return time.monotonic() - began


def resident_bytes(daemon):
    with open(f"/proc/{daemon.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    with harness.Daemon("--http.upload_memory", f"{ARGUMENTS.memory}MiB") as daemon:
        paths = [write_graph(daemon.scratch, number) for number in range(ARGUMENTS.uploads)]
        alone_s = upload(daemon, paths[0])
        began, before, peak = time.monotonic(), resident_bytes(daemon), 0
        with concurrent.futures.ThreadPoolExecutor(ARGUMENTS.uploads) as pool:
            futures = [pool.submit(ledger.attempt, path, upload, daemon, path) for path in paths[1:]]
            while not all(future.done() for future in futures):
                peak = max(peak, resident_bytes(daemon))
                concurrent.futures.wait(futures, timeout=EVERY_S)
        seconds = time.monotonic() - began
        daemon.get("/readyz").expect(200)
    grown = (peak - before) >> 20
    print(f"alone {ARGUMENTS.megabytes / alone_s:.0f} MiB/s; together "
          f"{ARGUMENTS.megabytes * len(futures) / seconds:.0f} MiB/s; memory grew by {grown} MiB")
    ledger.failures += grown > ARGUMENTS.memory + BESIDE_MIB
    ledger.close()


main()
