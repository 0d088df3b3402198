"""Trains all networks beside each other on one GPU, from the shipped weights on (or from build/find-before.pt and build/read-before.pt).

  train_all.py --training 14     minutes; everything is written to build/run
  train_all.py --only read       the others stay as they are shipped

A training's steps are small kernels one after the other, so one training leaves most of the GPU idle. Several of one network share what they learn (`meet` in train.py). Where the driver has its service for sharing (MPS), and it
works, the kernels of all of them run at the same time, else in turns.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

RUN = pathlib.Path("build/run")
FIND, READ = 2, 3
# Time limit in seconds for the first steps of a training, in which libraries load and kernels are chosen.
FIRST_STEPS = 200


def started(name, *command):
    """Beside the others, with what it says in a file of its own."""
    out = open(RUN / f"{name}.log", "a")
    return subprocess.Popen([sys.executable, *map(str, command)], stdout=out, stderr=subprocess.STDOUT)


def members(args):
    """How many trainings of each job go on beside each other."""
    return {args.only: FIND + READ} if args.only else {"find": FIND, "read": READ}


def share_gpu():
    """Whether the driver's service for sharing a GPU was started and works."""
    control = shutil.which("nvidia-cuda-mps-control")
    if control is None:
        return False
    for name in ("PIPE", "LOG"):
        folder = RUN / f"mps-{name.lower()}"
        folder.mkdir(exist_ok=True)
        os.environ[f"CUDA_MPS_{name}_DIRECTORY"] = str(folder.resolve())
    try:
        subprocess.run([control, "-d"], timeout=20, check=True)
        subprocess.run([sys.executable, "-c", "import torch; x = torch.ones(512, 512, device='cuda'); assert float((x @ x).sum()) == 512 ** 3"], timeout=60, check=True)
        return True
    except (subprocess.SubprocessError, OSError) as error:
        print("not shared:", error, flush=True)
        stop_sharing()
        return False


def stop_sharing():
    try:
        subprocess.run(["nvidia-cuda-mps-control"], input=b"quit\n", timeout=20, check=False)
    except (subprocess.SubprocessError, OSError) as error:
        print("sharing goes on:", error, flush=True)
    for name in ("PIPE", "LOG"):
        os.environ.pop(f"CUDA_MPS_{name}_DIRECTORY", None)


def trainings(args):
    common = ["--no-check", "--minutes", args.training, "--documents", args.documents, "--rate", args.rate, "--last-rate", 2e-5]
    if args.scanned:
        common += ["--scanned", args.scanned]
    jobs = {}
    for job, count in members(args).items():
        for n in range(count):
            name, before = f"{job}-{n}", pathlib.Path(f"build/{job}-before.pt")
            start = ["--resume", before] if before.exists() else ["--shipped"]
            jobs[name] = started(name, "train.py", job, *start, *common, "--batch", {"find": 96, "read": 256}[job], "--seed", args.seed + 1000 * n + (job == "read"), "--member", n, "--members", count, "--out", f"build/{name}.pt")
    return jobs


def has_begun(name):
    return " step 10 " in (RUN / f"{name}.log").read_text()


def train(args):
    shared = share_gpu()
    print("shared" if shared else "in turns", flush=True)
    jobs, began = trainings(args), time.time()
    while any(job.poll() is None for job in jobs.values()):
        time.sleep(2)
        if time.time() - began > args.training * 60 + FIRST_STEPS:
            print("a training does not end; its last save is taken", flush=True)
            for job in jobs.values():
                job.kill()
        if shared and time.time() - began > FIRST_STEPS and not all(has_begun(name) for name in jobs):
            print("no steps while shared; again, in turns", flush=True)
            for job in jobs.values():
                job.kill()
                job.wait()
            stop_sharing()
            args.training -= FIRST_STEPS / 60
            shared, jobs, began = False, trainings(args), time.time()
        elif shared and time.time() - began > FIRST_STEPS:
            shared = False
    for job, count in members(args).items():
        team = [f"build/{job}-{n}.pt" for n in range(count) if pathlib.Path(f"build/{job}-{n}.pt").exists()]
        if started("join", "train.py", "join", "--team", *team, "--out", f"build/{job}.pt").wait() != 0:
            shutil.copy(team[0], f"build/{job}.pt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--training", type=float, default=14, help="minutes")
    parser.add_argument("--only", choices=["find", "read"], help="trains no other networks")
    parser.add_argument("--scanned", help="characters that scans.py has cut, to train on too")
    parser.add_argument("--documents", type=int, default=80_000)
    parser.add_argument("--rate", type=float, default=1.2e-3)
    parser.add_argument("--seed", type=int, default=1_300_000)
    args = parser.parse_args()
    RUN.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "2"
    began = time.time()
    train(args)
    print(f"trained after {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
