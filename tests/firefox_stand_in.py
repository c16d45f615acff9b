"""Firefox for Playwright: a stand-in for its program that answers what this Firefox does not know.

Playwright drives an unpatched Firefox by WebDriver BiDi, and first of all asks for colour schemes to be imitated, which
Debian's Firefox cannot yet: it refuses, and there is no page. This program starts the real one, sits between the two,
and answers such questions itself, with nothing done. Run by the path in FIREFOX with Playwright's arguments.
"""

import asyncio
import json
import os
import sys

from aiohttp import ClientSession, WSMsgType, web

FREE = 64 * 2**20  # bytes of a message: screenshots are large
UNKNOWN = ("emulation.setMediaFeaturesOverride",)


async def main() -> None:
    firefox = await asyncio.create_subprocess_exec(
        os.environ["FIREFOX"], *sys.argv[1:], stderr=asyncio.subprocess.PIPE, limit=2**20
    )
    async for line in firefox.stderr:
        words = line.decode(errors="replace")
        if "WebDriver BiDi listening on" not in words:
            sys.stderr.write(words)
            continue
        own = await listen(words.split()[-1])
        print(f"WebDriver BiDi listening on ws://127.0.0.1:{own}", file=sys.stderr, flush=True)
        break
    await asyncio.gather(drain(firefox.stderr), firefox.wait())


async def drain(stream) -> None:
    async for _ in stream:
        pass


async def listen(address: str) -> int:
    async def between(request):
        here = web.WebSocketResponse(max_msg_size=FREE)
        await here.prepare(request)
        async with (
            ClientSession() as session,
            session.ws_connect(f"{address}{request.path}", max_msg_size=FREE) as there,
        ):
            await asyncio.wait(
                [asyncio.create_task(ask(here, there)), asyncio.create_task(tell(there, here))],
                return_when=asyncio.FIRST_COMPLETED,
            )
        return here

    app = web.Application()
    app.router.add_get("/{path:.*}", between)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return site._server.sockets[0].getsockname()[1]


async def ask(here, there) -> None:
    async for message in here:
        if message.type is not WSMsgType.TEXT:
            continue
        asked = json.loads(message.data)
        if asked.get("method") in UNKNOWN:
            await here.send_str(json.dumps({"type": "success", "id": asked["id"], "result": {}}))
        else:
            await there.send_str(message.data)


async def tell(there, here) -> None:
    async for message in there:
        if message.type is WSMsgType.TEXT:
            await here.send_str(message.data)


if __name__ == "__main__":
    asyncio.run(main())
