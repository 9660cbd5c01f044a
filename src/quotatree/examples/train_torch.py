"""The same for torchrun: `torchrun -m quotatree.examples.train_torch --steps 200` as the command of a job.

torchrun reads the nodes, the rank of this one and the meeting point from the PET_* variables that QuotaTree sets, so a
job of several replicas needs no further flags. On notice every worker agrees on the step to stop at before one of them
saves; a worker that saved alone would leave the others waiting. Needs PyTorch; runs on CPUs (gloo) where there is no GPU.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

LEFT_ON_NOTICE = 75


def main() -> int:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    parser = argparse.ArgumentParser(
        description="Train with DistributedDataParallel; save when told to leave."
    )
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--save-every", type=int, default=50, metavar="STEPS")
    asked = parser.parse_args()
    noticed: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: noticed.append(number))

    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if gpu else torch.device("cpu")
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(16, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    path = Path(os.environ.get("QUOTATREE_CHECKPOINT_DIR", ".")) / "torch.pt"
    step = 0
    if path.exists():
        found = torch.load(path, map_location=device)
        model.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])
        step = found["step"]
    if dist.get_rank() == 0:
        say(
            f"{'continues at' if step else 'begins, at'} step {step} of {asked.steps}, {dist.get_world_size()} workers"
        )

    while step < asked.steps:
        chance = torch.Generator().manual_seed(step * dist.get_world_size() + dist.get_rank())
        inputs = torch.randn(64, 16, generator=chance).to(device)
        optimizer.zero_grad()
        (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()
        step += 1
        leave = torch.tensor([len(noticed)], device=device)
        dist.all_reduce(leave, dist.ReduceOp.MAX)  # a notice to one worker reaches all of them
        if (leave.item() or step % asked.save_every == 0 or step == asked.steps) and dist.get_rank() == 0:
            fresh = path.with_suffix(".new")
            torch.save(
                {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, fresh
            )
            os.replace(fresh, path)
            Path(os.environ.get("QUOTATREE_CHECKPOINT_FILE", path)).touch()
            say(f"saved step {step}")
        if leave.item():
            dist.destroy_process_group()
            return LEFT_ON_NOTICE
    dist.destroy_process_group()
    return 0


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
