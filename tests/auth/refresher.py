"""One of many processes that share a login: waits for a moment, calls a tool, prints what came back."""

import asyncio
import sys
import time

import mooring


async def main(url: str, moment: float) -> None:
    async with mooring.open(servers={"web": {"type": "http", "url": url}}, policy="allow", remember=False) as host:
        await asyncio.sleep(max(0.0, moment - time.time()))
        result = await host.call("web.echo", {"text": "hi"}, timeout=60)
        sys.stdout.write(result.text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
