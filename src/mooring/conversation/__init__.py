"""One conversation: its tools, requests, permissions and events. The host makes it; faces, agents, clients use it."""
