"""Writes to every record that a person has, again and again, until it is killed; prints each name once it is in all."""

import asyncio
import os
import sys
from itertools import count

from mooring.auth.store import SecretStore
from mooring.core.conversation.verdict import ProposedCall, Verdict
from mooring.core.definitions.paths import Paths, here
from mooring.inventory.overlay import save_switch
from mooring.permissions import pins, rules, trust
from mooring.permissions.audit import AuditLog

PROJECT = "/project"
KEY = pins.PinKey("user", "demo", "digest")


async def write_until_killed(where: Paths, worker: str) -> None:
    store, log = SecretStore(where), AuditLog(where, worker)
    for number in count():
        name = f"{worker}-{number}"
        rules.save_allow(where, PROJECT, "demo", name, "project-local")
        rules.save_allow(where, PROJECT, "demo", name, "user")
        save_switch(where, name, False, PROJECT, everywhere=True)
        trust.record(where, [trust.Decision(PROJECT, name, "digest", "rejected")])
        pins.approve(where, KEY, [pins.ToolChange(name, "{}")])
        await store.set("secret", name, f"value of {name}")
        log.add(ProposedCall("demo", name), Verdict("allow", "it is a test"), "ok")
        log.flush()
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(write_until_killed(here(os.environ), sys.argv[1]))
