# An agent that reads the records over the Model Context Protocol with the SDK for
# Python, once as of the newest version of the protocol and once with a handshake.
import asyncio
import json
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def text(result):
    (content,) = result.content
    return content.text


async def use(mode):
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + os.environ["KEY"]})
    async with http, Client(streamable_http_client(os.environ["URL"] + "/mcp", http_client=http), mode=mode) as client:
        tools = await client.list_tools()
        listed = text(await client.call_tool("list_errors", {"search": "agent"}))
        first = json.loads(listed)["errors"][0]
        whole = text(await client.call_tool("get_error", {"signature": first["signature"]}))
        moved = await client.call_tool("set_status", {"signatures": [first["signature"]], "status": "resolved"})
        print(json.dumps({
            "mode": mode, "tools": len(tools.tools), "link": first["link"], "message": first["from_application"]["message_preview"],
            "context": json.loads(whole)["record"]["from_application"]["context"]["message"],
            "refused": moved.is_error, "code": json.loads(text(moved))["error"]["code"],
        }, sort_keys=True))


for mode in ("auto", "legacy"):
    asyncio.run(use(mode))
